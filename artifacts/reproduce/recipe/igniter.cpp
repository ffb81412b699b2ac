// SPDX-License-Identifier: Apache-2.0

/// \file
/// iGniter: what residents of one GPU are predicted to see, and plans of whole mixes.
///
/// Source   Xu et al., iGniter, TPDS'22.
#include "serving/igniter.h"

#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_igniter(Recipes& registry);

namespace igniter_recipe {
namespace {

using namespace serving;

constexpr const char* kProfile = "data/igniter/v100_fitted.json";
constexpr const char* kPredictions = "golden/igniter/predictions*.csv";
constexpr const char* kPlans = "golden/igniter/plans*.json";

IgniterProfile read_profile(const File& file) {
  const Json all = read_json(file);
  const Json& board = all.at("hardware");
  IgniterProfile profile{.board = {.frequency = board.at("max_frequency_mhz"),
                                   .power_cap = board.at("power_cap_w"),
                                   .idle_power = board.at("idle_power_w"),
                                   .share_unit = board.at("share_unit_percent"),
                                   .bytes_per_ms = board.at("pcie_bytes_per_ms"),
                                   .frequency_slope = board.at("freq_slope_mhz_per_w"),
                                   .sched_slope = board.at("sched_slope_ms"),
                                   .sched_offset = board.at("sched_offset_ms")}};
  for (const Json& each : all.at("models")) {
    profile.models[each.at("model")] = {.kernels = each.at("kernels"),
                                        .input_bytes = each.at("input_bytes"),
                                        .output_bytes = each.at("output_bytes"),
                                        .sched_base = each.at("sched_base_ms"),
                                        .k1 = each.at("act_k1"),
                                        .k2 = each.at("act_k2"),
                                        .k3 = each.at("act_k3"),
                                        .k4 = each.at("act_k4"),
                                        .k5 = each.at("act_k5"),
                                        .power_slope = each.at("power_slope"),
                                        .power_offset = each.at("power_offset"),
                                        .l2_slope = each.at("l2_slope"),
                                        .l2_offset = each.at("l2_offset"),
                                        .l2_sensitivity = each.at("l2_sensitivity")};
  }
  return profile;
}

void require_model(const IgniterProfile& profile, const std::string& model) {
  require(profile.models.contains(model), "no model is called " + model);
}

void compare_predictions(Bench& bench, const File& file, const IgniterProfile& profile) {
  struct Gpu {
    std::vector<IgniterResident> residents;
    std::vector<IgniterForecast> published;
  };
  std::map<std::string, Gpu> cases;
  Rows rows(file.path, {"case", "model", "batch", "share_percent", "latency_ms", "throughput_rps"});
  while (rows.next()) {
    Gpu& gpu = cases[std::string(rows.text("case"))];
    gpu.residents.push_back({.model = std::string(rows.text("model")),
                             .batch = rows.number("batch"),
                             .share = rows.number("share_percent")});
    gpu.published.push_back({rows.number("latency_ms"), rows.number("throughput_rps")});
    require_model(profile, gpu.residents.back().model);
  }
  for (const auto& [name, gpu] : cases) {
    const auto seen = forecast(profile, gpu.residents);
    for (std::size_t each = 0; each < seen.size(); ++each) {
      const std::string what = fmt::format("prediction {}: {} ", name, gpu.residents[each].model);
      bench.add(what + "latency", gpu.published[each].latency, seen[each].latency, "ms");
      bench.add(what + "throughput", gpu.published[each].throughput, seen[each].throughput,
                "requests/s");
    }
  }
}

void compare_plan(Bench& bench, const Json& plan, const IgniterProfile& profile) {
  const std::string what = fmt::format("plan {}: ", plan.at("id").get<std::string>());
  std::vector<IgniterWorkload> workloads;
  for (const Json& each : plan.at("workloads")) {
    workloads.push_back({each.at(0), each.at(1), each.at(2)});
    require_model(profile, workloads.back().model);
    require(workloads.back().slo > 0 && workloads.back().rate > 0 && workloads.back().rate <= 1e6,
            "expected an objective above 0, and a rate above 0 and at most a million");
  }
  const auto gpus = plan_igniter(profile, workloads);
  const Json& published_gpus = plan.at("plan");
  bench.add(what + "GPUs", static_cast<double>(published_gpus.size()),
            static_cast<double>(gpus.size()));
  std::size_t differ = 0;
  std::vector<double> published_latency, our_latency, published_rate, our_rate;
  for (std::size_t gpu = 0; gpu < gpus.size() && gpu < published_gpus.size(); ++gpu) {
    for (const IgniterForecast& each : forecast(profile, gpus[gpu])) {
      our_latency.push_back(each.latency);
      our_rate.push_back(each.throughput);
    }
    for (std::size_t each = 0; each < published_gpus[gpu].size(); ++each) {
      const Json& theirs = published_gpus[gpu][each];
      published_latency.push_back(theirs.at("latency_ms"));
      published_rate.push_back(theirs.at("throughput_rps"));
      if (each >= gpus[gpu].size()) {
        ++differ;
        continue;
      }
      const IgniterResident& ours = gpus[gpu][each];
      differ += theirs.at("workload").get<int>() != ours.workload ||
                theirs.at("model").get<std::string>() != ours.model ||
                theirs.at("batch").get<double>() != ours.batch ||
                std::abs(theirs.at("share_percent").get<double>() - ours.share) > 1e-9;
    }
  }
  bench.add_mismatches(what + "residents", differ);
  bench.add_column(what + "latency", published_latency, our_latency, "ms");
  bench.add_column(what + "throughput", published_rate, our_rate, "requests/s");
}

void make(Bench& bench) {
  std::optional<IgniterProfile> profile;
  bench.each(kProfile, [&](const File& file) { profile = read_profile(file); });
  if (!profile) return;
  bench.each(kPredictions, [&](const File& file) { compare_predictions(bench, file, *profile); });
  bench.each(kPlans, [&](const File& file) {
    each_case(file, [&](const Json& plan) { compare_plan(bench, plan, *profile); });
  });
}

}  // namespace
}  // namespace igniter_recipe

void register_igniter(Recipes& registry) {
  using namespace igniter_recipe;
  registry.add({.name = "igniter",
                .summary = "what residents of a GPU see, and plans of mixes",
                .paper = "Xu et al., TPDS'22 (iGniter)",
                .kind = Kind::rerun,
                .needs = {{kProfile, "coefficients of github.com/icloud-ecnu/igniter"},
                          {kPredictions, "its forecast for drawn residents"},
                          {kPlans, "its plans of drawn mixes"}},
                .make = make});
}

}  // namespace almanac::reproduce
