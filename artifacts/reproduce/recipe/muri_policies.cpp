// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies of Almanac's own simulation on Muri's traces, whose jobs say for how long a step loads,
/// computes and sends: jobs that share GPUs take turns (perf/beside.h).
///
/// It is the same work on the same GPUs as in the published simulator, and not the same program:
/// that one charges a restart at every event to every job that runs.
///
/// Source   Zhao et al., SIGCOMM'22 (Muri), section 6, for what they are compared with.
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "experiment/experiment.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "schedule/speed_book.h"

namespace almanac::reproduce {

void register_muri_policies(Recipes& registry);

namespace muri_policies_recipe {
namespace {

constexpr const char* kTraces = "data/elastic/muri/trace*.csv";
constexpr const char* kFigures = "golden/elastic/muri/figures_9_10.csv";
constexpr int kNodes = 8;
constexpr int kGpusPerNode = 8;

/// A policy, and the published one that it stands beside.
struct Pair {
  const char* ours;
  const char* published;
};
constexpr std::array<Pair, 8> kPairs{{{"srtf", "srtf"},
                                      {"tiresias", "tiresias_l"},
                                      {"las", "tiresias_l"},
                                      {"muri_l", "muri_l"},
                                      {"las+muri", "muri_l"},
                                      {"las+lifelong", "muri_l"},
                                      {"muri_s", "muri_s"},
                                      {"srtf+muri", "muri_s"}}};

struct Workload {
  trace::Trace trace;
  perf::Catalogue models;  ///< One for each step that differs.
};

/// Columns as published, milliseconds; a step takes 1.015 times what the trace says.
Workload read_workload(const File& file) {
  Rows rows(file.path, {"job_id", "num_gpu", "submit_time", "iterations", "iteration_time",
                        "resource_time_0", "resource_time_1", "resource_time_2"});
  Workload made;
  std::map<std::tuple<double, double, double, double>, std::string> known;
  while (rows.next()) {
    trace::Job& job = made.trace.jobs.emplace_back();
    job.id = trace::JobKey{static_cast<std::uint64_t>(rows.whole("job_id"))};
    job.request.submit = Time{Duration{rows.whole("submit_time")}};
    job.request.gpus = static_cast<std::int32_t>(rows.whole("num_gpu"));
    const double step_ms = rows.number("iteration_time") * 1.015;
    rows.require(step_ms > 0 && job.request.gpus > 0,
                 "iteration_time and num_gpu must be positive");
    const interleave::Stages stages{.load = rows.number("resource_time_0") / 1e3,
                                    .compute = rows.number("resource_time_1") / 1e3,
                                    .network = rows.number("resource_time_2") / 1e3};
    job.outcome.run = Duration{std::llround(rows.number("iterations") * step_ms)};
    job.outcome.state = trace::JobState::completed;
    const auto [model, is_new] =
        known.try_emplace({step_ms, stages.load, stages.compute, stages.network},
                          fmt::format("stages{:05}", known.size()));
    job.request.model = made.trace.names.intern(model->second);
    if (!is_new) continue;
    perf::Model& entry = made.models.models.emplace_back();
    entry.name = model->second;
    perf::Board& board = entry.boards.emplace_back();
    board.gpu_type = "V100";
    board.step = {.fixed = step_ms / 1e3, .sample = 0};
    board.stages = stages;
  }
  require(!made.trace.jobs.empty(), "expected a job");
  return made;
}

/// Mean JCT in seconds by trace and policy.
using Published = std::map<std::pair<std::string, std::string>, double>;

Published read_published(Bench& bench) {
  Published made;
  bench.each(kFigures, [&](const File& file) {
    Rows rows(file.path, {"trace", "policy", "metric", "value"});
    while (rows.next()) {
      if (rows.text("metric") != "mean_jct_s") continue;
      made[{std::string(rows.text("trace")), std::string(rows.text("policy"))}] =
          rows.number("value");
    }
  });
  return made;
}

void compare(Bench& bench) {
  const Published published = read_published(bench);
  bench.each(kTraces, [&](const File& file) {
    Workload workload = read_workload(file);
    cluster::Cluster cluster;
    cluster.add_vc("all");
    cluster.add_nodes({.gpus = kGpusPerNode, .gpu_type = "V100"}, kNodes);
    cluster.takes_every_job = true;
    experiment::Experiment experiment;
    for (const Pair& pair : kPairs) experiment.policies.emplace_back(pair.ours);
    experiment::Prepared prepared = value_or_throw(
        experiment::prepare(experiment, std::move(workload.trace), std::move(cluster)));
    prepared.speeds = std::make_shared<schedule::SpeedBook>(prepared.cluster, prepared.trace,
                                                            std::move(workload.models));
    for (std::size_t run = 0; run < prepared.runs.size(); ++run) {
      const sim::Schedule schedule = value_or_throw(experiment::simulate_run(prepared, run));
      const experiment::Summary summary = experiment::summarize(
          prepared.runs[run].composition, prepared.trace, schedule, prepared.power);
      const auto beside = published.find({file.stem, kPairs[run].published});
      bench.add(fmt::format("{}: mean JCT of {}, beside {}", file.stem, kPairs[run].ours,
                            kPairs[run].published),
                beside == published.end() ? std::nan("") : beside->second, summary.avg_jct_s, "s");
    }
  });
  bench.note("another simulator than the published one: a restart is charged where a job restarts");
}

}  // namespace
}  // namespace muri_policies_recipe

void register_muri_policies(Recipes& registry) {
  using namespace muri_policies_recipe;
  registry.add({.name = "muri-policies",
                .summary = "packing by stages in Almanac's own simulation, on Muri's traces",
                .paper = "ours, beside Zhao et al., SIGCOMM'22 (Muri), Figures 9 and 10",
                .kind = Kind::figure,
                .needs = {{kTraces, "Zhao et al., SIGCOMM'22, simulator of the paper (Apache-2.0)"},
                          {kFigures, "the same, means of its figures"}},
                .make = compare});
}

}  // namespace almanac::reproduce
