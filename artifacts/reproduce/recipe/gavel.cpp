// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gavel's programs problem by problem, and its published simulator run by run.
///
/// Source   Narayanan et al., Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning
///          Workloads, OSDI'20, and its program.
#include <fmt/format.h>

#include "reproduce/gavel_cases.h"
#include "reproduce/gavel_data.h"
#include "reproduce/gavel_runs.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_gavel(Recipes& registry);

namespace gavel_recipe {
namespace {

constexpr const char* kAlone = "data/elastic/gavel/simulation_alone.csv";
constexpr const char* kPairs = "data/profiles/gavel/simulation_throughputs.json";
constexpr const char* kPolicies = "golden/elastic/gavel/policy_instances*.json";
constexpr const char* kPacked = "golden/elastic/gavel/packed_instances*.json";

constexpr const char* kNamed = "golden/elastic/gavel/named_tests*.json";
constexpr const char* kPop = "golden/elastic/gavel/pop_*.csv";
constexpr const char* kPopFigure = "golden/elastic/gavel/figure_pop*.csv";
constexpr const char* kPhysical = "data/elastic/gavel/physical_cluster_alone.csv";
constexpr const char* kTraces = "data/elastic/gavel/*_traces.csv";
constexpr const char* kTraceRuns = "golden/elastic/gavel/trace_runs_jobs*.csv";
constexpr const char* kFifoRuns = "golden/elastic/gavel/continuous_fifo*.csv";

/// What all recipes of this family read: speeds in simulation, alone and in pairs.
ModelSpeeds read_speeds(Bench& bench) {
  ModelSpeeds speeds;
  bench.each(kAlone, [&](const File& file) { speeds = ModelSpeeds(file.path); });
  bench.each(kPairs, [&](const File& file) { speeds.add_pairs(read_json(file)); });
  return speeds;
}

void make(Bench& bench) {
  const ModelSpeeds speeds = read_speeds(bench);
  bench.each(kPolicies, [&](const File& file) {
    each_case(file, [&](const Json& each) {
      compare_case(bench, fmt::format("{} {}", file.stem, each.at("instance").get<int>()),
                   read_problem(each.at("workers"), each.at("jobs"), speeds.types()),
                   each.at("expected"));
    });
  });
  bench.each(kPacked, [&](const File& file) {
    int number = 0;
    each_case(file, [&](const Json& each) {
      compare_packed_case(bench, fmt::format("{} {}", file.stem, ++number), each, speeds);
    });
  });
  bench.each(kNamed, [&](const File& file) {
    const Json tests = read_json(file);
    for (const auto& [name, test] : tests.items()) {
      compare_named_test(bench, name, test, speeds.types());
    }
  });
  PopLevels levels;
  bench.each(kPop, [&](const File& file) {
    if (!file.stem.ends_with("_objectives")) compare_pop(bench, file, speeds, levels);
  });
  bench.each(kPopFigure, [&](const File& file) { compare_pop_figure(bench, file, levels); });

  ModelSpeeds measured;
  bench.each(kPhysical, [&](const File& file) { measured = ModelSpeeds(file.path); });
  std::map<std::string, std::vector<gavel::Job>> traces;
  bench.each(kTraces, [&](const File& file) { traces.merge(read_traces(file.path, measured)); });
  bench.each(kTraceRuns, [&](const File& file) { compare_traces(bench, file, traces, measured); });
  const Streams streams = find_streams(bench);
  bench.each(kFifoRuns, [&](const File& file) { compare_stream(bench, file, streams, speeds); });
}

}  // namespace
}  // namespace gavel_recipe

void register_gavel(Recipes& registry) {
  using namespace gavel_recipe;
  registry.add({.name = "gavel",
                .summary = "programs over GPU types against their best, and runs of its simulator",
                .paper = "Narayanan et al., OSDI'20",
                .kind = Kind::rerun,
                .needs = {{kAlone, kGavelData},
                          {kPairs, kGavelData},
                          {kNamed, "unit tests of the paper's program"},
                          {kPop, "Narayanan et al., SOSP'21 (POP)", Kind::figure},
                          {kPopFigure, "Narayanan et al., SOSP'21 (POP)", Kind::figure},
                          {kPhysical, kGavelData},
                          {kTraces, kGavelData},
                          {kStreams, "generated as the program of the paper does"},
                          {kTraceRuns, kGavelRuns},
                          {kFifoRuns, kGavelRuns},
                          {kPolicies, "optima derived with an independent solver", Kind::second},
                          {kPacked, "optima derived with an independent solver", Kind::second}},
                .make = make});
}

}  // namespace almanac::reproduce
