// SPDX-License-Identifier: Apache-2.0

/// \file
/// Completion times of the deployment logs that came with Synergy's simulator, under every order
/// and allocator.
///
/// Source   Mohan et al., OSDI'22, artifact: simulator, configs/deployment.ini.
#include "passes/synergy.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "experiment/experiment.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "stats/quantile.h"
#include "table/digest.h"

namespace almanac::reproduce {

void register_synergy(Recipes& registry);

namespace synergy_recipe {
namespace {

constexpr const char* kLogs = "golden/synergy/*";
constexpr const char* kTables = "data/profiles/synergy/synergy_sensitivity.csv";

/// Mean, median, 95th and 99th percentile of completion times and the makespan, in hours.
using Times = std::array<double, 5>;
constexpr std::array<const char*, 5> kNames{"mean JCT", "median JCT", "95th percentile of JCT",
                                            "99th percentile of JCT", "makespan"};

/// The logs that the artifact was run on, static and dynamic, by their digests: what is published
/// is of no other log that may have their names.
constexpr std::array<std::string_view, 2> kRunOn{
    "eb1ba6821efa27b26ab4bad91080feee8e0416b9c841f0e87925721c4a63f7a1",
    "c2ae34cd5cfe8e7638bc0d4207c70febf843bc66bbf3e61d9f100edb826e54b9"};

/// What the unmodified artifact gives for them.
struct OfArtifact {
  const char* policy;
  std::array<Times, 2> times;
};
constexpr OfArtifact kPublished[] = {
    {"synergy_proportional+fifo",
     {{{5.631, 5.875, 11.429, 12.940, 15.25}, {4.623, 4.117, 10.224, 12.428, 16.75}}}},
    {"synergy_tune+fifo",
     {{{5.083, 5.250, 9.338, 10.588, 11.00}, {3.675, 3.159, 7.988, 9.577, 14.83}}}},
    {"synergy_greedy+fifo",
     {{{5.494, 5.875, 10.184, 11.756, 12.33}, {3.882, 3.425, 8.699, 10.407, 15.25}}}},
    {"synergy_proportional+srtf",
     {{{4.412, 2.917, 11.596, 13.094, 14.08}, {3.907, 2.129, 10.173, 14.191, 19.50}}}},
    {"synergy_tune+srtf",
     {{{4.107, 2.834, 9.950, 12.339, 12.92}, {3.188, 1.863, 9.797, 10.268, 13.25}}}},
    {"synergy_greedy+srtf",
     {{{4.308, 2.875, 11.954, 14.502, 14.67}, {3.233, 1.747, 10.156, 11.575, 13.92}}}},
    {"synergy_proportional+las",
     {{{5.625, 4.917, 10.842, 11.169, 11.42}, {4.555, 3.469, 10.486, 12.023, 17.17}}}},
    {"synergy_tune+las",
     {{{5.171, 4.625, 9.350, 10.419, 10.67}, {3.670, 3.010, 8.458, 10.044, 11.42}}}},
    {"synergy_greedy+las",
     {{{6.185, 6.125, 11.771, 12.919, 13.17}, {4.053, 3.581, 9.292, 10.877, 12.25}}}},
    {"synergy_proportional+ftf",
     {{{7.983, 8.625, 9.667, 9.750, 9.75}, {6.297, 7.007, 8.976, 9.858, 15.17}}}},
    {"synergy_tune+ftf",
     {{{7.778, 8.334, 9.334, 9.417, 9.42}, {4.930, 5.433, 7.894, 8.896, 11.50}}}},
    {"synergy_greedy+ftf",
     {{{8.096, 9.167, 10.417, 10.501, 10.58}, {6.412, 7.428, 9.984, 10.230, 12.00}}}},
    {"synergy_proportional+drf",
     {{{5.366, 4.875, 12.104, 14.252, 14.42}, {4.472, 3.666, 10.507, 13.540, 20.33}}}},
    {"synergy_tune+drf",
     {{{4.999, 4.792, 9.684, 10.504, 10.83}, {3.959, 3.274, 8.490, 9.501, 12.50}}}},
    {"synergy_greedy+drf",
     {{{5.559, 6.000, 11.421, 12.176, 13.08}, {4.175, 3.316, 8.675, 10.238, 13.83}}}},
    {"synergy_proportional+tetris",
     {{{4.523, 3.084, 11.425, 13.171, 13.58}, {3.993, 2.155, 10.786, 14.606, 19.75}}}},
    {"synergy_tune+tetris",
     {{{3.891, 2.709, 9.267, 10.014, 11.33}, {3.116, 1.829, 8.875, 9.396, 12.33}}}},
    {"synergy_greedy+tetris",
     {{{3.832, 2.500, 10.025, 11.925, 12.75}, {3.090, 1.799, 8.879, 9.728, 12.17}}}},
    {"synergy_opt+fifo",
     {{{4.654, 4.959, 8.754, 10.089, 10.58}, {3.385, 2.887, 7.727, 9.239, 14.00}}}},
    {"synergy_opt+srtf",
     {{{3.942, 2.834, 10.529, 12.337, 12.67}, {3.092, 1.842, 9.543, 10.262, 12.83}}}},
};

/// Four servers of configs/deployment.ini, or one with all that they have: the published integer
/// program packs jobs as if they were one.
cluster::Cluster deployment(bool pooled) {
  const int servers = pooled ? 4 : 1;
  cluster::Cluster made;
  made.add_vc("all");
  made.takes_every_job = true;
  made.add_nodes({.gpus = 8 * servers, .cpus = 24.0 * servers, .memory_gb = 500.0 * servers},
                 pooled ? 1U : 4U);
  return made;
}

Times play(const File& log, const std::string& tables, const std::string& policy) {
  experiment::Experiment experiment;
  experiment.trace = log.path;
  experiment.reading.format = "synergy";
  experiment.policies = {policy};
  experiment.speed = tables;
  auto read = value_or_throw(trace::read_trace(experiment.trace, experiment.reading));
  require(!read.jobs.empty(), "there are no jobs");
  const experiment::Prepared prepared = value_or_throw(experiment::prepare(
      experiment, std::move(read), deployment(policy.starts_with("synergy_opt"))));
  const sim::Schedule schedule = value_or_throw(passes::simulate_as_synergy(prepared));
  std::vector<double> hours;
  double sum = 0;
  double makespan = 0;
  for (std::size_t job = 0; job < prepared.trace.jobs.size(); ++job) {
    const sim::JobResult result = schedule.jobs[job];
    require(result.phase == policy::Phase::ended,
            fmt::format("job {} never ends on 4 servers of 8 GPUs",
                        prepared.trace.id(prepared.trace.jobs[job].id)));
    hours.push_back(seconds(result.end - prepared.trace.jobs[job].request.submit) / 3600);
    sum += hours.back();
    makespan = std::max(makespan, seconds(result.end) / 3600);
  }
  std::sort(hours.begin(), hours.end());
  return {sum / static_cast<double>(hours.size()), stats::quantile_sorted(hours, 0.5),
          stats::quantile_sorted(hours, 0.95), stats::quantile_sorted(hours, 0.99), makespan};
}

void compare(Bench& bench, const File& log, const std::string& tables) {
  const std::string digest = value_or_throw(table::sha256_file(log.path));
  const auto known = std::find(kRunOn.begin(), kRunOn.end(), digest);
  if (known == kRunOn.end()) {
    bench.note(fmt::format("no completion times are published for {}; ours stand alone", log.name));
  }
  for (const OfArtifact& published : kPublished) {
    const Times ours = play(log, tables, published.policy);
    for (std::size_t at = 0; at < ours.size(); ++at) {
      bench.add(fmt::format("{} {}: {}", log.name, published.policy, kNames[at]),
                known == kRunOn.end()
                    ? stats::kNaN
                    : published.times[static_cast<std::size_t>(known - kRunOn.begin())][at],
                ours[at], "h");
    }
  }
}

}  // namespace
}  // namespace synergy_recipe

void register_synergy(Recipes& registry) {
  using namespace synergy_recipe;
  constexpr const char* kFrom =
      "simulator/deploy_trace and simulator/models of github.com/msr-fiddle/synergy";
  registry.add(
      {.name = "synergy",
       .summary = "Completion times of Synergy's deployment logs under 20 orders and allocators",
       .paper = "Mohan et al., OSDI'22, artifact",
       .kind = Kind::rerun,
       .needs = {{kTables, kFrom}, {kLogs, kFrom}},
       .make = [](Bench& bench) {
         bench.each(kTables, [&](const File& tables) {
           bench.each(kLogs, [&](const File& log) { compare(bench, log, tables.path); });
         });
       }});
}

}  // namespace almanac::reproduce
