// SPDX-License-Identifier: Apache-2.0

/// \file
/// Elastic policies of Almanac's own simulation on the workloads published with Pollux, beside the
/// means of the simulator published with it. It is the same work on the same GPUs, and not the same
/// program: here jobs start and end at any instant, their first start costs nothing, and policies
/// believe what jobs have reported alone.
///
/// Source   Qiao et al., OSDI'21, section 5.3, for what they are compared with.
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "experiment/experiment.h"
#include "reproduce/elastic_trace.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "reproduce/tick_runs.h"

namespace almanac::reproduce {

void register_elastic_policies(Recipes& registry);

namespace elastic_policies_recipe {
namespace {

/// A policy, and the published one that it stands beside.
struct Pair {
  const char* ours;
  const char* published;
};
constexpr std::array<Pair, 9> kPairs{{{"tiresias:57600", "tiresias"},
                                      {"optimus", "optimus"},
                                      {"pollux", "pollux"},
                                      {"sia", "pollux"},
                                      {"ffdl", "pollux"},
                                      {"elastic_tiresias", "pollux"},
                                      {"ones", "pollux"},
                                      {"hasten", "pollux"},
                                      {"almanac+preempt:all", "pollux"}}};
constexpr elastic::TickOptions kPublished{};

/// Seconds from submission to end of each job, in order.
TickOutcome play(const experiment::Prepared& prepared, std::size_t run) {
  const Result<sim::Schedule> schedule = experiment::simulate_run(prepared, run);
  if (!schedule) return tl::unexpected(schedule.error());
  std::vector<std::int64_t> made;
  for (std::size_t job = 0; job < schedule->jobs.size(); ++job) {
    const sim::JobResult result = schedule->jobs[job];
    if (result.end == kNoTime) return fail(Code::invalid, "a job never ended");
    made.push_back(std::llround(seconds(result.end - prepared.trace.jobs[job].request.submit)));
  }
  return made;
}

/// Seconds that each job runs on the GPUs and with the batch that it requests. No policy that gives
/// it these, and no others, can have a shorter mean.
TickOutcome run_alone(const trace::Trace& trace) {
  std::vector<std::int64_t> made;
  for (const trace::Job& job : trace.jobs) made.push_back(std::llround(seconds(job.outcome.run)));
  return made;
}

/// A workload that cannot be played leaves the others their rows.
Result<experiment::Prepared> prepare(const experiment::Experiment& experiment,
                                     const std::vector<elastic::TickJob>& jobs,
                                     const cluster::Cluster& cluster) {
  try {
    return experiment::prepare(experiment, trace_of(jobs), cluster);
  } catch (const Malformed& wrong) {
    return tl::unexpected(wrong.error);
  }
}

void compare(Bench& bench) {
  const TickWorkloads data = read_tick_workloads(bench);
  std::string folder;
  bench.each(kApplications, [&](const File& file) {
    folder = std::filesystem::path(file.path).parent_path().parent_path().parent_path().string();
  });
  std::map<std::string, PublishedRuns> published;
  std::set<WorkloadKey> keys;
  for (const Pair& pair : kPairs) {
    auto [found, is_new] = published.try_emplace(pair.published);
    if (is_new) found->second = read_published(bench, pair.published);
    for (const auto& [key, run] : found->second.runs) {
      if (data.workloads.contains(key)) keys.insert(key);
    }
  }
  experiment::Experiment experiment;
  experiment.elastic = folder;
  const Duration restart{std::chrono::seconds{30}};
  experiment.restart = {.one_gpu = restart, .up_to_8_gpus = restart, .more_gpus = restart};
  for (const Pair& pair : kPairs) experiment.policies.emplace_back(pair.ours);
  cluster::Cluster cluster;
  cluster.add_vc("all");
  cluster.add_nodes({.gpus = kPublished.gpus_per_node}, kPublished.nodes);

  const std::vector<WorkloadKey> order(keys.begin(), keys.end());
  std::array<std::map<TickRun, TickOutcome>, kPairs.size()> played;
  std::map<TickRun, TickOutcome> alone;
  for (const WorkloadKey& key : order) {
    const Result<experiment::Prepared> prepared =
        prepare(experiment, data.workloads.at(key), cluster);
    for (auto& each : played) {
      each[{.workload = key}] = prepared ? TickOutcome{} : tl::unexpected(prepared.error());
    }
    if (!prepared) continue;
    alone[{.workload = key}] = run_alone(prepared->trace);
    tbb::parallel_for(std::size_t{0}, kPairs.size(), [&](std::size_t run) {
      played[run].at({.workload = key}) = play(*prepared, run);
    });
  }
  for (std::size_t at = 0; at < kPairs.size(); ++at) {
    const Pair& pair = kPairs[at];
    const std::string name =
        fmt::format("{}, beside {} in its simulator,", pair.ours, pair.published);
    add_means(bench, name, published.at(pair.published).runs, played[at]);
    add_percentiles(bench, name, published.at(pair.published).runs, played[at]);
  }
  add_means(bench, "no wait, on the GPUs and with the batch requested, beside pollux,",
            published.at("pollux").runs, alone);
}

}  // namespace
}  // namespace elastic_policies_recipe

void register_elastic_policies(Recipes& registry) {
  using namespace elastic_policies_recipe;
  registry.add({.name = "elastic-policies",
                .summary = "elastic policies in our own simulation, beside Pollux' simulator",
                .paper = "Qiao et al., OSDI'21, section 5.3",
                .kind = Kind::rerun,
                .needs = tick_needs(),
                .takes_minutes = true,
                .make = compare});
}

}  // namespace almanac::reproduce
