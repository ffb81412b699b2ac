// SPDX-License-Identifier: Apache-2.0

/// \file
/// What failures leave of the time of large jobs, and how often these should write checkpoints.
///
/// Source   Kokolis et al., HPCA'25 (effective training time of two research clusters); Young 1974,
///          Daly 2006.
#include <array>

#include <fmt/format.h>

#include "formulas/checkpoint.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_failures(Recipes& registry);

namespace failures_recipe {
namespace {

constexpr const char* kCases = "golden/failures/*.json";
constexpr double kMinutesADay = 1440;
constexpr double kGpusANode = 8;

/// Times in minutes.
double mttf(double gpus, double faults_per_1000_node_days) {
  return failure::mean_time_to_failure(gpus / kGpusANode,
                                       faults_per_1000_node_days / 1000 / kMinutesADay);
}

double above_0(const Json& each, const char* name) {
  const double value = each.at(name);
  require(value > 0, fmt::format("expected {} above 0", name));
  return value;
}

std::string of(const Json& each) {
  return fmt::format("{} GPUs, {} faults per 1,000 node-days", each.at("gpus").get<double>(),
                     each.at("failures_per_1000_node_days").get<double>());
}

void compare_ettr(Bench& bench, const File& file, const Json& each) {
  const double mean = mttf(above_0(each, "gpus"), above_0(each, "failures_per_1000_node_days"));
  const double interval = above_0(each, "checkpoint_interval_min");
  const double restart = each.at("restart_min");
  const double write = each.at("write_min");
  const std::string what = fmt::format("{}: {}, checkpoints of {} min each {} min, restart {} min",
                                       file.name, of(each), write, interval, restart);
  bench.add(
      what + ": effective training time", each.at("ettr"),
      failure::effective_time({.mean_time_to_failure = mean, .write = write}, interval, restart),
      "");
  if (each.contains("mttf_h")) {
    bench.add(what + ": mean time to failure", each.at("mttf_h"), mean / 60, "h");
  }
}

void compare_intervals(Bench& bench, const File& file, const Json& each) {
  const failure::Failing job{
      .mean_time_to_failure =
          mttf(above_0(each, "gpus"), above_0(each, "failures_per_1000_node_days")),
      .write = above_0(each, "write_min")};
  const double best = failure::best_interval(job);
  const double young = failure::young_interval(job);
  const auto add = [&](const char* key, const char* what, double ours, const char* unit) {
    if (!each.contains(key)) return;
    bench.add(
        fmt::format("{}: {}, checkpoints of {} min: {}", file.name, of(each), job.write, what),
        each.at(key), ours, unit);
  };
  add("mttf_min", "mean time to failure", job.mean_time_to_failure, "min");
  add("young_min", "Young's interval", young, "min");
  add("daly_first_order_min", "Daly's first order", failure::daly_first_order_interval(job), "min");
  add("daly_higher_order_min", "Daly's higher order", failure::daly_interval(job), "min");
  add("exact_optimum_min", "best interval", best, "min");
  add("slowdown_at_exact", "slowdown at the best interval", failure::slowdown(job, best), "");
  add("slowdown_at_young", "slowdown at Young's", failure::slowdown(job, young), "");
}

void compare(Bench& bench, const File& file) {
  const Json all = read_json(file);
  require(all.is_object(), "expected an object with ettr or checkpoint");
  for (const Json& each : all.value("ettr", Json::array())) compare_ettr(bench, file, each);
  for (const Json& each : all.value("checkpoint", Json::array())) {
    compare_intervals(bench, file, each);
  }
}

/// What the paper prints, in its own precision. RSC-1 has 6.50 faults per 1,000 node-days, RSC-2
/// has 2.34.
void compare_paper(Bench& bench) {
  struct {
    double gpus, faults, interval, restart, write, printed;
  } const kEttr[] = {{16000, 6.5, 60, 5, 0, 0.7},
                     {16000, 6.5, 5, 5, 0, 0.93},
                     {8000, 6.5, 30, 5, 1.0 / 6, 0.9},
                     {100000, 2.34, 2, 2, 0, 0.9}};
  for (const auto& [gpus, faults, interval, restart, write, printed] : kEttr) {
    bench.add(fmt::format("HPCA'25: effective training time of {} GPUs with {} faults per 1,000 "
                          "node-days, checkpoints each {} min{}",
                          gpus, faults, interval, printed == 0.9 ? " (0.9 or better)" : ""),
              printed,
              failure::effective_time({.mean_time_to_failure = mttf(gpus, faults), .write = write},
                                      interval, restart),
              "");
  }
  for (const auto& [gpus, printed] : {std::pair{16384.0, 1.8}, {131072.0, 0.23}}) {
    bench.add(fmt::format("HPCA'25: mean time to failure of {} GPUs on RSC-1", gpus), printed,
              mttf(gpus, 6.5) / 60, "h");
  }
}

}  // namespace
}  // namespace failures_recipe

void register_failures(Recipes& registry) {
  using namespace failures_recipe;
  registry.add({.name = "failures",
                .summary = "Effective training time of large jobs, and intervals of checkpoints",
                .paper = "Kokolis et al., HPCA'25; Young 1974; Daly 2006",
                .kind = Kind::closed_form,
                .needs = {{kCases, "the papers' closed forms on a grid, part of the shared data"}},
                .make = [](Bench& bench) {
                  compare_paper(bench);
                  bench.each(kCases, [&](const File& file) { compare(bench, file); });
                }});
}

}  // namespace almanac::reproduce
