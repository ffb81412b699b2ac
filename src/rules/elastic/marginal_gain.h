// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gives out GPUs one by one, each to the job whose remaining time it shortens most.
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
  /// Returns the seconds of a step on a number of GPUs, or nothing if the job cannot run on them.
  std::function<std::optional<double>(int)> step_s{};
};

/// Returns the GPUs of each job. Each job first gets one GPU, in order, while there are any. Each
/// further GPU goes to the largest gain, the first of equals, until no job gains. O(jobs x gpus).
std::vector<int> deal_by_gain(std::span<const GainSeeker> jobs, int gpus);

}  // namespace almanac::elastic
