// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether what is known of some jobs may stand for all.
#pragma once

#include <algorithm>
#include <cstdint>

#include "study/study.h"

namespace almanac::study {

/// A finding covers the whole trace only if at least half of its GPU jobs are `known`.
inline bool known_for_most(const Study& study, std::int64_t known) {
  return 2 * known >= static_cast<std::int64_t>(study.gpu_jobs().size());
}

/// Returns the GPU jobs with a recorded start.
inline std::int64_t starts_known(const Study& study) {
  const auto jobs = study.gpu_jobs();
  return std::count_if(jobs.begin(), jobs.end(),
                       [&](std::uint32_t at) { return study.job(at).outcome.start != kNoTime; });
}

/// Whether the log separates failed from cancelled jobs. Philly's rebuilt list does so for some
/// only; for the others, every incomplete job counts as failed.
inline bool tells_failed_from_cancelled(const Study& study) {
  return study.trace().unsuccessful == 0;
}

/// Returns the addition to a caption in this case.
inline const char* failed_caption(const Study& study) {
  return tells_failed_from_cancelled(study)
             ? ""
             : " This log does not always distinguish cancelled from "
               "failed jobs; both count as failed.";
}

}  // namespace almanac::study
