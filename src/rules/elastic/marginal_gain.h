// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs one by one, each to the job whose remaining time it shortens most.
///
/// Source   Peng et al., EuroSys'18 (Optimus), section 4.1.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace almanac::elastic {

struct GainSeeker {
  double steps_left = 0;
  int most_gpus = 1;
  /// Seconds of a step on so many GPUs; nothing = it cannot run on them.
  std::function<std::optional<double>(int)> step_s{};
};

/// GPUs of each job. Each gets one while there are any, in order; what is left goes to the largest
/// gain, of equal ones to the first, as long as there is a gain. O(jobs x gpus).
std::vector<int> deal_by_gain(std::span<const GainSeeker> jobs, int gpus);

}  // namespace almanac::elastic
