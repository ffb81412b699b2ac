// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether what is known of some jobs may stand for all.
#pragma once

#include <cstdint>

#include "study/study.h"

namespace almanac::study {

/// A finding is told of the whole trace only when at least half of its GPU jobs are `known`.
inline bool known_for_most(const Study& study, std::int64_t known) {
  return 2 * known >= static_cast<std::int64_t>(study.gpu_jobs().size());
}

}  // namespace almanac::study
