// SPDX-License-Identifier: Apache-2.0

/// \file
/// On how many GPUs an elastic job can run: whole copies of its model (Request::plan_gpus) and
/// whole groups of an NVLink domain (Request::nvlink_gpus), within the range that its user gives.
///
/// A job that is not elastic runs on what it requests, and the readers of logs refuse a request
/// that is no multiple of both.
#pragma once

#include <algorithm>
#include <numeric>

#include "trace/job.h"

namespace almanac::trace {

struct Sizes {
  int least = 1;
  int most = 0;  ///< Below `least` if there is no size at all.
  int step = 1;

  /// Returns the largest size up to `gpus`; 0 if there is none.
  int at_most(int gpus) const {
    const int made = std::min(gpus, most) / step * step;
    return made < least ? 0 : made;
  }
  /// Returns the smallest size from `gpus` on; 0 if there is none.
  int at_least(int gpus) const {
    const int made = (std::max(gpus, least) + step - 1) / step * step;
    return made > most ? 0 : made;
  }
  bool has(int gpus) const { return gpus >= least && gpus <= most && gpus % step == 0; }
};

/// GPUs by which the sizes of a job differ: the fewest that are whole copies of its model and whole
/// NVLink groups.
inline int size_step(const Request& request) {
  return std::lcm(std::max(1, int{request.plan_gpus}), std::max(1, int{request.nvlink_gpus}));
}

/// Returns the sizes of an elastic job (Request::max_gpus).
inline Sizes sizes_of(const Request& request) {
  const int step = size_step(request);
  const int least = std::max(1, int{request.min_gpus});
  return {.least = (least + step - 1) / step * step,
          .most = request.max_gpus / step * step,
          .step = step};
}

}  // namespace almanac::trace
