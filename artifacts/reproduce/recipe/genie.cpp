// SPDX-License-Identifier: Apache-2.0

/// \file
/// GENIE: how well a few runs predict how fast a task trains on any placement, what placements
/// cost, and how many tasks end in time under it and its baselines.
///
/// The paper does not publish its tasks: ours are drawn as docs/guide/qos.md says.
///
/// Source   Chen et al., TPDS'20, Figures 8, 10, 13 and 14.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "cluster/read_toml.h"
#include "experiment/experiment.h"
#include "perf/fit_rate.h"
#include "reproduce/generated.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "stats/quantile.h"
#include "trace/generate.h"
#include "trace/workload_file.h"
#include "trace/workload_preset.h"

namespace almanac::reproduce {

void register_genie(Recipes& registry);

namespace genie_recipe {
namespace {

constexpr const char* kPlacements = "golden/genie/*.csv";
constexpr std::uint64_t kSeeds = 10;

/// Guaranteed tasks in % and makespan in min, by tasks an hour.
struct Density {
  int tasks;
  std::array<std::pair<double, double>, 7> of_policy;
};
constexpr std::array<std::pair<const char*, const char*>, 7> kPolicies{
    {{"FIFO", "fifo+any"},
     {"Capacity", "fifo+models+one"},
     {"Min-Min", "fifo+edf+any"},
     {"Weighted Fair", "fifo+aged_edf+any"},
     {"Tetris+Perf", "fifo+fastest"},
     {"Tetris+CER", "fifo+cer"},
     {"GENIE", "genie"}}};
constexpr Density kFigures13And14[] = {
    {5,
     {{{1.6, 4149},
       {91.3, 2712},
       {30.5, 3710},
       {65.4, 2919},
       {3.2, 3503},
       {80.3, 1571},
       {92.9, 1504}}}},
    {10,
     {{{1.1, 4387},
       {8.0, 3348},
       {12.5, 4059},
       {10.1, 3260},
       {3.2, 6299},
       {13.3, 2205},
       {80.7, 1763}}}},
    {15,
     {{{0.3, 5476},
       {4.4, 3855},
       {5.2, 5044},
       {3.0, 4015},
       {1.8, 8551},
       {6.1, 2820},
       {55.1, 2170}}}},
    {20,
     {{{0.8, 6797},
       {5.6, 4720},
       {3.2, 5941},
       {5.2, 4964},
       {2.0, 10464},
       {8.4, 3669},
       {14.7, 2635}}}},
    {25,
     {{{1.6, 9267},
       {2.7, 5330},
       {1.5, 8849},
       {2.1, 5648},
       {1.0, 12522},
       {3.7, 5264},
       {7.6, 4126}}}},
};

struct Placement {
  perf::RatePoint measured;
  double predicted = 0;  ///< By the paper, from a few runs.
};

std::map<std::string, std::vector<Placement>> read_placements(const File& file) {
  Rows rows(file.path, {"model", "global_batch", "nodes", "gpus_per_node", "measured_img_s",
                        "pred_lightweight"});
  std::map<std::string, std::vector<Placement>> models;
  while (rows.next()) {
    const Placement placement{
        .measured = {.batch = rows.number("global_batch"),
                     .shape = {rows.number("nodes"), rows.number("gpus_per_node")},
                     .rate = rows.number("measured_img_s")},
        .predicted = rows.number("pred_lightweight")};
    const auto& [batch, shape, rate] = placement.measured;
    rows.require(batch >= 1 && shape.nodes >= 1 && shape.gpus_per_node >= 1 && rate > 0,
                 "expected a batch, nodes and GPUs of 1 or more, and a rate above 0");
    models[std::string(rows.text("model"))].push_back(placement);
  }
  return models;
}

/// One GPU at each batch; at the largest batch so many GPUs of one node, one GPU of so many nodes.
perf::GenieRate profiled(const std::vector<Placement>& all) {
  double largest = 0;
  for (const Placement& each : all) largest = std::max(largest, each.measured.batch);
  std::vector<perf::RatePoint> alone;
  std::vector<perf::RatePoint> together;
  for (const auto& [point, predicted] : all) {
    const bool one_node = point.shape.nodes == 1;
    const bool one_each = point.shape.gpus_per_node == 1;
    if (one_node && one_each) alone.push_back(point);
    if (one_node != one_each && point.batch == largest) together.push_back(point);
  }
  require(!alone.empty(), "a model has no rate on one GPU");
  const perf::BatchCurve curve = perf::fit_curve(perf::CurveForm::table, alone);
  const perf::CommPoints points[] = {{&curve, together}};
  return {curve, perf::fit_comm(perf::Comm::Form::nodiv, points)};
}

void compare_placements(Bench& bench, const File& file) {
  for (const auto& [model, all] : read_placements(file)) {
    const perf::GenieRate rate = profiled(all);
    std::vector<double> published;
    std::vector<double> ours;
    std::vector<double> published_of_4;
    std::vector<double> ours_of_4;
    for (const auto& [point, predicted] : all) {
      published.push_back(100 * std::abs(predicted / point.rate - 1));
      ours.push_back(100 * std::abs(rate(point.batch, point.shape) / point.rate - 1));
      if (point.batch < 4 * point.shape.gpus()) continue;
      published_of_4.push_back(published.back());
      ours_of_4.push_back(ours.back());
    }
    const auto mean = [](const std::vector<double>& values) {
      return std::accumulate(values.begin(), values.end(), 0.0) /
             static_cast<double>(values.size());
    };
    const std::string what = fmt::format("Figure 8 ({}) {}: ", file.name, model);
    bench.add(what + "mean error of the rate predicted from a few runs", mean(published),
              mean(ours), "%");
    bench.add(what + "median error of the rate predicted from a few runs",
              stats::quantile(published, 0.5), stats::quantile(ours, 0.5), "%");
    bench.add(what + "median error where each GPU has 4 samples or more",
              stats::quantile(published_of_4, 0.5), stats::quantile(ours_of_4, 0.5), "%");
  }
}

void compare_costs(Bench& bench) {
  constexpr std::array<std::array<double, 3>, 9> kFigure10{{{1, 1, .1625},
                                                            {1, 2, .225},
                                                            {1, 4, .35},
                                                            {2, 1, .325},
                                                            {2, 2, .45},
                                                            {2, 4, .70},
                                                            {4, 1, .65},
                                                            {4, 2, .90},
                                                            {4, 4, 1.40}}};
  for (const auto& [nodes, gpus, published] : kFigure10) {
    bench.add(fmt::format("Figure 10: cost of {}N{}G", nodes, gpus), published,
              perf::cost({nodes, gpus}, 4, 4), "");
  }
}

void compare_days(Bench& bench, const Density& density) {
  trace::Workload workload =
      value_or_throw(trace::parse_workload(*trace::preset("genie"), "genie.toml"));
  workload.span.days = 1;
  workload.span.jobs = 24 * density.tasks;
  std::array<std::pair<double, double>, 7> sums{};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    experiment::Experiment experiment;
    experiment.speed = "genie";
    for (const auto& [name, policy] : kPolicies) experiment.policies.emplace_back(policy);
    const experiment::Prepared prepared = value_or_throw(
        experiment::prepare(experiment, trace::generate(workload, seed),
                            value_or_throw(cluster::parse_toml(*trace::preset("genie_cluster"),
                                                               "genie_cluster.toml"))));
    for (std::size_t run = 0; run < prepared.runs.size(); ++run) {
      const sim::Schedule schedule = value_or_throw(experiment::simulate_run(prepared, run));
      const experiment::Summary summary = experiment::summarize(
          prepared.runs[run].composition, prepared.trace, schedule, prepared.power);
      sums.at(run).first += 100 * summary.guarantee / kSeeds;
      sums.at(run).second += summary.makespan_s / 60 / kSeeds;
    }
  }
  for (std::size_t run = 0; run < kPolicies.size(); ++run) {
    const std::string what =
        fmt::format("Figures 13 and 14, {} tasks an hour, {} ({}): ", density.tasks,
                    kPolicies[run].first, kPolicies[run].second);
    bench.add(what + "tasks in time", density.of_policy[run].first, sums[run].first, "%");
    bench.add(what + "makespan", density.of_policy[run].second, sums[run].second, "min");
  }
}

}  // namespace
}  // namespace genie_recipe

void register_genie(Recipes& registry) {
  using namespace genie_recipe;
  registry.add(
      {.name = "genie",
       .summary = "Rates that GENIE predicts, costs of placements, tasks in time and makespans",
       .paper = "Chen et al., TPDS'20, Figures 8, 10, 13 and 14",
       .kind = Kind::figure,
       .needs = {{kPlacements, "rates read off Figure 8"}},
       .make = [](Bench& bench) {
         compare_costs(bench);
         bench.each(kPlacements, [&](const File& file) { compare_placements(bench, file); });
         for (const Density& density : to_play(kFigures13And14)) compare_days(bench, density);
         bench.note(
             fmt::format("Figures 13 and 14: the paper's tasks are not published; ours are "
                         "means of {} days that are drawn as it says, with ranges of our own",
                         kSeeds));
       }});
}

}  // namespace almanac::reproduce
