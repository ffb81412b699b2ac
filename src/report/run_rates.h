// SPDX-License-Identifier: Apache-2.0

/// \file
/// Speed of jobs under each policy: what slowed them down, and which jobs lost most.
///
/// A job's mean rate is a product of factors (sim/pace.h). Averages weighted by allocated GPU time
/// show how much of that time each factor cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/run_input.h"
#include "sim/simulation.h"

namespace almanac::report {

/// Allocated GPU time, and what remains of it after applying each further factor.
struct RateTotals {
  double jobs = 0;
  double held_s = 0;
  double gpus_s = 0;
  double type_s = 0;
  double neighbours_s = 0;
  double cpus_s = 0;
  double memory_s = 0;
  double power_s = 0;
  double done_s = 0;       ///< After bandwidth, the last one: work, as GPU time at the reference.
  double computing_s = 0;  ///< GPU time in which the GPUs computed.
  double core_s = 0;       ///< Allocated core time.

  void add(int gpus, const sim::MeanPace& pace);
};

/// A factor's cost in allocated GPU time; below 0 if it saved time.
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
  double lost_s = 0;  ///< GPU time lost against the reference; core time cut, for a CPU job.
};

/// CPU jobs that ran.
struct CpuJobTotals {
  std::int64_t jobs = 0;
  std::int64_t throttled = 0;  ///< Held fewer cores than requested for some time.
  double throttled_s = 0;
  double cut_s = 0;          ///< Core time withheld.
  std::int64_t stopped = 0;  ///< Stopped at least once.
  std::int64_t stops = 0;
};

struct Rates {
  RateTotals all{};
  std::vector<RateTotals> by_model{};  ///< By group of By::model.
  std::vector<double> percentiles{};   ///< Mean rates of GPU jobs; empty without values.
  std::vector<SlowedJob> slowed{};     ///< The 20 GPU jobs that lost most, most first.
  CpuJobTotals cpu{};
  std::vector<SlowedJob> gave_way{};  ///< The 20 CPU jobs that were cut, then stopped, most.
};

/// Returns the rates. If the run does not simulate speeds, they only have the stops of CPU jobs.
/// O(jobs log jobs).
Rates rates_of(const RunInput& input, const sim::Schedule& schedule);

}  // namespace almanac::report
