// SPDX-License-Identifier: Apache-2.0

/// \file
/// The rate at which a job ran, and the factors that determined it.
#pragma once

#include <string>

#include "base/time.h"
#include "perf/pace.h"

namespace almanac::sim {

/// The rate of a job from some time on, and its factors.
struct PaceChange {
  Time at{};
  double rate = 1;
  perf::Parts parts{};   ///< For a CPU job, only the cores. `computing` includes bandwidth.
  double bandwidth = 1;  ///< The factor of nodes with overdrawn bandwidth.
  double cpus = 0;       ///< Cores held.
  Time until = kNever;
};

/// Means over the time that a job ran. The product of the factors is the rate.
struct MeanPace {
  double ran_s = 0;  ///< 0 if it never ran; the rest is then undefined.
  double rate = 1;
  perf::Parts parts{};  ///< `computing` is the fraction of its time in which a GPU computed.
  double bandwidth = 1;
  double cpus = 0;         ///< Cores held.
  double throttled_s = 0;  ///< CPU job: time with fewer cores than requested.
  double cut_cpu_s = 0;    ///< CPU job: core-seconds requested but not held in that time.
};

/// Returns "runs at 0.61: cores 0.66, power 0.93"; factors of 1 are left out.
std::string to_string(const PaceChange& pace);
/// Returns "ran at 0.61: ...".
std::string in_words(const MeanPace& pace);

}  // namespace almanac::sim
