// SPDX-License-Identifier: Apache-2.0

/// \file
/// At what rate a job ran, and which factors made it so.
#pragma once

#include <string>

#include "base/time.h"
#include "perf/pace.h"

namespace almanac::sim {

/// Why a job ran at the rate that it did from some time on.
struct PaceChange {
  Time at{};
  double rate = 1;
  perf::Parts parts{};   ///< Of a CPU job only the cores. `computing` is with bandwidth.
  double bandwidth = 1;  ///< The factor of overdrawn nodes.
  double cpus = 0;       ///< Cores that it held.
  Time until = kNever;
};

/// Means over the time that a job ran. The product of the factors is the rate.
struct MeanPace {
  double ran_s = 0;  ///< 0 = it never ran, and the rest says nothing.
  double rate = 1;
  perf::Parts parts{};  ///< `computing` is the share of its time in which a GPU computed.
  double bandwidth = 1;
  double cpus = 0;         ///< Cores that it held.
  double throttled_s = 0;  ///< Of a CPU job: time in which it held fewer cores than it asked.
  double cut_cpu_s = 0;    ///< Of a CPU job: core time that it asked and did not hold then.
};

/// "runs at 0.61: cores 0.66, power 0.93": factors that are not 1.
std::string to_string(const PaceChange& pace);
/// "ran at 0.61: ..."
std::string in_words(const MeanPace& pace);

}  // namespace almanac::sim
