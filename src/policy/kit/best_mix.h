// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses how many jobs of each kind get which cores and memory, for the largest total throughput.
///
///   maximize  the sum of the jobs' throughput      one whole choice per job
///   so that   cores and memory suffice for all
///
/// Source   Mohan et al., OSDI'22 (Synergy), OPT, first phase: cores and memory of all nodes in one
///          pool, so the answer is an upper bound of what can be placed.
/// Differs  Equal jobs are counted: the program has a variable per kind and choice, not per job and
///          choice.
/// Cost     bench/size_bench.cpp; solved by CBC on one thread, deterministic
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace almanac::policy {

/// Cores and memory that a job may get, and its throughput relative to its proportional share.
struct SizeChoice {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mb = 0;
  double throughput = 1;

  bool operator==(const SizeChoice&) const = default;
};

/// Jobs with the same choices, at least one. A job that must not fall below its proportional share
/// has no choice that does.
struct JobKind {
  int jobs = 0;
  std::vector<SizeChoice> choices;
};

/// mix[kind][choice] is a number of jobs. Returns nothing if even the smallest choices are too
/// much.
using JobMix = std::vector<std::vector<int>>;
std::optional<JobMix> best_mix(std::span<const JobKind> kinds, std::int64_t cpu_milli,
                               std::int64_t memory_mb);

}  // namespace almanac::policy
