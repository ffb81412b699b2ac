// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a log says of waits, and whether a simulation reproduces it: one test for every command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "trace/job.h"

namespace almanac::experiment {

/// Returns how long `job`, which has a recorded start, waited: from joining the queue to its end,
/// without the time of all its runs. A requeued job waits more than once. Never negative.
Duration recorded_wait(const trace::Job& job);

/// Waits in seconds.
struct WaitFigures {
  double mean_s = 0;
  double p99_s = 0;
};

/// Reorders `waits_s`, which is not empty.
WaitFigures wait_figures(std::vector<double>& waits_s);

/// Whether simulated waits are the recorded ones: the means within 10 %, the p99 within a factor of
/// 1.5. Figures below a minute are equal.
bool reproduces(const WaitFigures& recorded, const WaitFigures& simulated);

/// Returns why agreement says little: " This says little: no job waited longer than 10 minutes."
/// Returns "" if at least a tenth of the jobs did, as recorded or simulated.
std::string little_evidence(std::int64_t waited, std::int64_t jobs);

}  // namespace almanac::experiment
