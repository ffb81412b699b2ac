// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether what is known of some jobs may stand for all.
#pragma once

#include <algorithm>
#include <cstdint>

#include "study/study.h"

namespace almanac::study {

/// A finding is told of the whole trace only when at least half of its GPU jobs are `known`.
inline bool known_for_most(const Study& study, std::int64_t known) {
  return 2 * known >= static_cast<std::int64_t>(study.gpu_jobs().size());
}

/// GPU jobs of which the log says when they began.
inline std::int64_t starts_known(const Study& study) {
  const auto jobs = study.gpu_jobs();
  return std::count_if(jobs.begin(), jobs.end(),
                       [&](std::uint32_t at) { return study.job(at).outcome.start != kNoTime; });
}

/// Whether failed jobs are told from cancelled ones. Philly's rebuilt list does so for some only;
/// where it does not, what does not complete counts as failed.
inline bool tells_failed_from_cancelled(const Study& study) {
  return study.trace().unsuccessful == 0;
}

/// What a caption adds then.
inline const char* failed_caption(const Study& study) {
  return tells_failed_from_cancelled(study)
             ? ""
             : " This log does not always distinguish cancelled from "
               "failed jobs; both count as failed.";
}

}  // namespace almanac::study
