// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast jobs ran under each policy, what held them back, and which jobs that cost most.
///
/// A job's mean rate is a product of factors (sim/pace.h); weighted by the GPU time that jobs held,
/// their means tell how much of that time each factor cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/run_input.h"
#include "sim/simulation.h"

namespace almanac::report {

/// GPU time that jobs held, and what it would have been worth with the factors one after another.
struct RateTotals {
  double jobs = 0;
  double held_s = 0;
  double gpus_s = 0;
  double type_s = 0;
  double neighbours_s = 0;
  double cpus_s = 0;
  double memory_s = 0;
  double power_s = 0;
  double done_s = 0;       ///< With bandwidth too: work, as GPU time at the reference.
  double computing_s = 0;  ///< In which GPUs computed.
  double core_s = 0;       ///< Core time that they held.

  void add(int gpus, const sim::MeanPace& pace);
};

/// What a factor cost of the GPU time that jobs held; below 0 where it spared some.
struct Cause {
  const char* column;
  const char* words;
  double (*cost_s)(const RateTotals& of);
};
inline constexpr auto kCauses = std::to_array<Cause>({
    {"lost_to_cores", "cores", [](const RateTotals& t) { return t.neighbours_s - t.cpus_s; }},
    {"lost_to_memory", "memory", [](const RateTotals& t) { return t.cpus_s - t.memory_s; }},
    {"lost_to_power", "power limits", [](const RateTotals& t) { return t.memory_s - t.power_s; }},
    {"lost_to_bandwidth", "memory bandwidth",
     [](const RateTotals& t) { return t.power_s - t.done_s; }},
    {"lost_to_neighbours", "jobs on the same GPUs",
     [](const RateTotals& t) { return t.type_s - t.neighbours_s; }},
    {"lost_to_type", "the type of GPU", [](const RateTotals& t) { return t.gpus_s - t.type_s; }},
    {"lost_to_gpus", "number and spread of GPUs",
     [](const RateTotals& t) { return t.held_s - t.gpus_s; }},
});

/// A job of the trace that lost time.
struct SlowedJob {
  std::uint32_t job = 0;
  std::uint32_t stops = 0;
  sim::MeanPace pace{};
  double lost_s = 0;  ///< GPU time less than at the reference; core time cut, of a CPU job.
};

/// CPU jobs that ran.
struct CpuJobTotals {
  std::int64_t jobs = 0;
  std::int64_t throttled = 0;  ///< Held fewer cores than they asked for some time.
  double throttled_s = 0;
  double cut_s = 0;          ///< Core time.
  std::int64_t stopped = 0;  ///< At least once.
  std::int64_t stops = 0;
};

struct Rates {
  RateTotals all{};
  std::vector<RateTotals> by_model{};  ///< By the grouping By::model.
  std::vector<double> percentiles{};   ///< Of the mean rates of GPU jobs; none, no values.
  std::vector<SlowedJob> slowed{};     ///< GPU jobs that lost most, most first.
  CpuJobTotals cpu{};
  std::vector<SlowedJob> gave_way{};  ///< CPU jobs that were cut most, then stopped most.
};

/// Without speeds in the run, nothing but which jobs were stopped. O(jobs log jobs).
Rates rates_of(const RunInput& input, const sim::Schedule& schedule);

}  // namespace almanac::report
