// SPDX-License-Identifier: Apache-2.0

/// \file
/// Our own elastic policy in Pollux' simulator, beside what is published of Pollux: to be below it.
///
/// Source   Qiao et al., OSDI'21, section 5.3, for what it is compared with.
#include <algorithm>

#include <fmt/format.h>

#include "reproduce/recipe.h"
#include "reproduce/tick_runs.h"

namespace almanac::reproduce {

void register_hasten(Recipes& registry);

namespace {

constexpr const char* kName = "hasten, beside pollux,";

/// The one below which 99 of 100 lie.
double percentile_99(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[static_cast<std::size_t>(0.99 * static_cast<double>(times.size() - 1))];
}

void compare(Bench& bench) {
  const TickWorkloads data = read_tick_workloads(bench);
  const auto published = read_published(bench, "pollux").runs;
  std::set<TickRun> runs;
  for (const auto& [key, run] : published) {
    if (data.workloads.contains(key)) runs.insert({.workload = key});
  }
  const auto played = play_ticks(data, runs, [](const TickRun&) { return elastic::make_hasten(); });
  add_means(bench, kName, published, played);

  struct Times {
    std::vector<double> published, ours;
  };
  std::map<std::string, Times> by_load;
  for (const auto& [run, outcome] : played) {
    if (!outcome) continue;
    Times& times = by_load[run.workload.first];
    for (const auto& [job, jct_s] : published.at(run.workload).jcts)
      times.published.push_back(jct_s);
    for (const std::int64_t jct_s : *outcome) times.ours.push_back(static_cast<double>(jct_s));
  }
  for (const auto& [load, times] : by_load) {
    if (times.published.empty() || times.ours.empty()) continue;
    bench.add(fmt::format("{} at load {}: 99th percentile of JCTs", kName, load),
              percentile_99(times.published), percentile_99(times.ours), "s");
  }
}

}  // namespace

void register_hasten(Recipes& registry) {
  registry.add({.name = "hasten",
                .summary = "our own elastic policy beside Pollux, in its simulator",
                .paper = "Qiao et al., OSDI'21, section 5.3",
                .needs = tick_needs(),
                .make = compare});
}

}  // namespace almanac::reproduce
