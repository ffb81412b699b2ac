// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many jobs of each kind shall have which cores and memory, so that all together do most.
///
///   maximise  the sum of what the jobs do       one choice a job, whole
///   so that   cores and memory of all suffice
///
/// Source   Mohan et al., OSDI'22 (Synergy), OPT, first phase: cores and memory of all nodes in one
///          pool, so the answer is an upper bound of what can be placed.
/// Differs  jobs that are alike are counted instead of asked one by one: the program has a variable
///          a kind and choice, and not one a job and choice.
/// Cost     bench/size_bench.cpp; solved by CBC on one thread, always with the same answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace almanac::policy {

/// What a job may be given, and what it then does relative to its proportional share.
struct SizeChoice {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mb = 0;
  double throughput = 1;

  bool operator==(const SizeChoice&) const = default;
};

/// Jobs that have the same choices; at least one. A job that must not fall below its proportional
/// share has no choice that does.
struct JobKind {
  int jobs = 0;
  std::vector<SizeChoice> choices;
};

/// mix[kind][choice]: how many jobs of it. Nothing when even the least choices are too much.
using JobMix = std::vector<std::vector<int>>;
std::optional<JobMix> best_mix(std::span<const JobKind> kinds, std::int64_t cpu_milli,
                               std::int64_t memory_mb);

}  // namespace almanac::policy
