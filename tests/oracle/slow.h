// SPDX-License-Identifier: Apache-2.0

/// \file
/// The scheduling rules once more, as plainly as they can be said: every decision sorts and scans
/// everything. Written from the rules, not from the engine, which is compared with it.
#pragma once

#include <string>
#include <vector>

#include "support/play.h"

namespace almanac::oracle {

/// Which rules to follow. All believe exact run times and place as `consolidate` does.
enum class Rule {
  fifo,
  sjf,
  gpu_time,
  srtf,          ///< Stops jobs by rank, only for one that then starts.
  las,           ///< Two queues, threshold below.
  easy,          ///< First come, first served; one reservation.
  sjf_easy,      ///< Shortest first; one reservation.
  conservative,  ///< For virtual clusters of one node and jobs of some length.
  helios_srtf,   ///< The published simulator, second by second.
};

inline constexpr std::int64_t kLasThresholdGpuSeconds = 120;

/// Every run of every job of `input`, in no particular order. Restarts cost what `input` says,
/// except for helios_srtf, which has costs of its own.
std::vector<Run> slow_runs(const Case& input, Rule rule);

/// The SRTF of the published simulator on one virtual cluster, second by second.
///
/// Source   Hu et al., SC'21, the artifact's SRTF policy, statement by statement.
std::vector<Run> helios_srtf(const Case& input, VcId vc);

}  // namespace almanac::oracle
