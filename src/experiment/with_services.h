// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs of an experiment with inference services on the same cluster.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/result.h"
#include "experiment/experiment.h"
#include "sim/services.h"
#include "sim/simulation.h"

namespace almanac::experiment {

/// Simulates run number `run` with services next to the jobs. With simulated speeds, jobs run at
/// theirs and replicas at their own; Sample::gpus_computing then counts jobs alone. Fails as
/// make_policy() does, and with simulated speeds also with unsupported for a policy that lets jobs
/// share GPUs: how a replica and a job slow each other on one GPU is unknown.
Result<sim::Schedule> simulate_with(const Prepared& prepared, std::size_t run,
                                    sim::Services& services,
                                    const std::atomic<bool>* stop = nullptr);

}  // namespace almanac::experiment
