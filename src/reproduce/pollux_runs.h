// SPDX-License-Identifier: Apache-2.0

/// \file
/// The workloads of Pollux's simulator under one of its policies, beside what was published.
/// Private to this room.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "reproduce/bench.h"
#include "reproduce/pollux_simulator.h"

namespace almanac::reproduce::pollux {

inline constexpr int kGpus = kNodes * kGpusANode;

/// What every policy of that simulator needs.
std::vector<Need> needs();

/// GPUs of each node that none of `present` holds.
std::vector<int> free_gpus(std::span<Job* const> present);

/// At each tick: the time, and the jobs that are there, in their order.
using Decide = std::function<void(double now, std::span<Job* const> present)>;

/// Plays each load and workload under a policy that `make` makes anew, and lays down how many jobs
/// have the completion time that is published of `policy`.
void compare_runs(Bench& bench, const std::string& policy, const std::function<Decide()>& make);

}  // namespace almanac::reproduce::pollux
