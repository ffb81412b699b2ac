// SPDX-License-Identifier: Apache-2.0

/// \file
/// Mean completion times of policies that pack jobs on GPUs, and what jobs keep of their speed.
///
/// The log is a month of the preset `venus`: no public log of Venus names virtual clusters. Three
/// more months are played by the policies that are nearest to each other. Each job is given a model
/// and a batch of those that Gavel measured in pairs, drawn with equal chances. Cores and memory
/// are left out, so that they hinder no guest.
///
/// Source   pairs: Narayanan et al., OSDI'20 (Gavel). Policies: Lucid (ASPLOS'23), Muri
///          (SIGCOMM'22), Gandiva (OSDI'18) and Tiresias (NSDI'19) as choices of ours; what is
///          simplified is in their files.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "cluster/read_toml.h"
#include "experiment/experiment.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "trace/generate.h"
#include "trace/workload_file.h"
#include "trace/workload_preset.h"

namespace almanac::reproduce {

void register_packing(Recipes& registry);

namespace packing_recipe {
namespace {

constexpr const char* kPairs = "data/profiles/gavel/simulation_throughputs.json";
constexpr double kUnpublished = std::numeric_limits<double>::quiet_NaN();
constexpr double kAgreed = 0.85;
const std::vector<std::string> kPolicies{"tiresias",        "las",
                                         "gittins",         "qssf+scan",
                                         "qssf+scan+lucid", "qssf+profile_first+lucid",
                                         "qssf+defragment", "qssf+defragment+gandiva",
                                         "las+muri",        "muri_l",
                                         "las+gandiva",     "las+guarded",
                                         "gittins+guarded", "las+lifelong",
                                         "gittins+lifelong"};
/// In the months of these seeds.
const std::vector<std::string> kNearest{"tiresias", "las+muri", "muri_l", "gittins+guarded",
                                        "gittins+lifelong"};
constexpr std::array<std::uint64_t, 3> kMoreMonths{2, 3, 4};

struct Configuration {
  std::string model;
  int batch = 0;  ///< Of a GPU; 0 = not told.
};

/// Of "('ResNet-18 (batch size 16)', 1)", a job of one GPU.
Configuration parse(std::string_view key) {
  constexpr std::string_view kBatch = " (batch size ";
  const std::size_t end = key.rfind("', ");
  require(key.starts_with("('") && end != std::string_view::npos,
          fmt::format("expected ('MODEL (batch size N)', GPUS), found {}", key));
  const std::string_view name = key.substr(2, end - 2);
  const std::size_t at = name.find(kBatch);
  Configuration made{.model = std::string(name.substr(0, at))};
  if (at == std::string_view::npos) return made;
  const std::string_view batch = name.substr(at + kBatch.size());
  const auto [last, error] = std::from_chars(batch.data(), batch.data() + batch.size(), made.batch);
  require(error == std::errc{} && made.batch > 0 && made.batch < 1'000'000,
          fmt::format("expected a batch from 1 to 999999, found {}", key));
  return made;
}

/// Those measured on one V100, in order of name.
std::vector<Configuration> read_configurations(const File& file) {
  const Json measured = read_json(file);
  require(measured.contains("v100"), "expected speeds of v100");
  std::vector<Configuration> made;
  for (const auto& [key, speeds] : measured["v100"].items()) {
    if (key.ends_with("', 1)")) made.push_back(parse(key));
  }
  require(!made.empty(), "expected a model on one v100");
  return made;
}

trace::Trace month_of(const std::vector<Configuration>& configurations, std::uint64_t seed) {
  trace::Trace trace = trace::generate(
      value_or_throw(trace::parse_workload(*trace::preset("venus"), "venus.toml")), seed);
  Rng rng(seed);
  for (trace::Job& job : trace.jobs) {
    const Configuration& drawn = configurations[rng.below(configurations.size())];
    job.request.model = trace.names.intern(drawn.model);
    job.request.batch = drawn.batch * job.request.gpus;
    job.request.cpus = std::numeric_limits<float>::quiet_NaN();
    job.request.memory_gb = std::numeric_limits<float>::quiet_NaN();
  }
  return trace;
}

void play(Bench& bench, const std::vector<Configuration>& configurations, std::uint64_t seed,
          const std::vector<std::string>& policies) {
  experiment::Experiment experiment;
  experiment.speed = "public";
  experiment.policies = policies;
  cluster::Cluster cluster =
      value_or_throw(cluster::parse_toml(*trace::preset("venus_cluster"), "venus_cluster.toml"));
  for (cluster::NodeClass& each : cluster.classes) each.cpus = each.memory_gb = 0;
  const experiment::Prepared prepared = value_or_throw(
      experiment::prepare(experiment, month_of(configurations, seed), std::move(cluster)));
  for (std::size_t run = 0; run < prepared.runs.size(); ++run) {
    const sim::Schedule schedule = value_or_throw(experiment::simulate_run(prepared, run));
    const experiment::Summary summary = experiment::summarize(
        prepared.runs[run].composition, prepared.trace, schedule, prepared.power);
    double least = 1;
    int slowed = 0;
    for (std::size_t job = 0; job < prepared.trace.jobs.size(); ++job) {
      const sim::MeanPace pace = schedule.pace_log[job];
      if (pace.ran_s == 0) continue;
      least = std::min(least, pace.parts.neighbours);
      if (pace.parts.neighbours < kAgreed - 1e-4) ++slowed;
    }
    const std::string what = fmt::format("venus month {}, {}: ", seed, policies.at(run));
    bench.add(what + "mean JCT", kUnpublished, summary.avg_jct_s, "s");
    bench.add(what + "least part of its speed alone that a job keeps", kUnpublished, 100 * least,
              "%");
    bench.add(what + "jobs that keep less than 85 %", kUnpublished, slowed, "jobs");
  }
}

void compare(Bench& bench) {
  bench.each(kPairs, [&](const File& file) {
    const std::vector<Configuration> configurations = read_configurations(file);
    play(bench, configurations, 1, kPolicies);
    for (const std::uint64_t seed : kMoreMonths) play(bench, configurations, seed, kNearest);
    bench.note(
        "months of the preset venus, by seed; models and batches are drawn from those measured in "
        "pairs; a job's speed alone is a mean over its life");
  });
}

}  // namespace
}  // namespace packing_recipe

void register_packing(Recipes& registry) {
  using namespace packing_recipe;
  registry.add({.name = "packing",
                .summary = "completion times of policies that pack jobs, on a month like Venus'",
                .paper = "ours, beside Lucid, Muri, Gandiva and Tiresias",
                .kind = Kind::baseline,
                .needs = {{kPairs, "Narayanan et al., OSDI'20, program of the paper (MIT)"}},
                .make = compare});
}

}  // namespace almanac::reproduce
