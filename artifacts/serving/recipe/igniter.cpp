// SPDX-License-Identifier: Apache-2.0

/// \file
/// iGniter: what residents of one GPU are predicted to see, and plans of whole mixes.
#include "serving/igniter.h"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/profile/sheet.h"
#include "serving/recipe/json_lines.h"
#include "serving/recipe/recipes.h"

namespace almanac::inference {
namespace {

using nlohmann::json;

Result<void> known(const published::IgniterProfile& profile, const std::string& model,
                   const std::string& path) {
  if (profile.models.contains(model)) return {};
  return fail(Code::not_found, fmt::format("no model is called {}", model), {.file = path});
}

Result<void> compare_predictions(const std::string& path, const published::IgniterProfile& profile,
                                 Comparison& made) {
  const auto sheet = Sheet::read(
      path, {"case", "model", "batch", "share_percent", "latency_ms", "throughput_rps"});
  if (!sheet) return tl::unexpected(sheet.error());
  std::map<std::string, std::vector<std::size_t>> rows;
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    rows[sheet->text("case", row)].push_back(row);
  }
  for (const auto& [name, members] : rows) {
    std::vector<published::IgniterResident> residents;
    for (const std::size_t row : members) {
      if (auto found = known(profile, sheet->text("model", row), path); !found) return found;
      const auto batch = sheet->number("batch", row);
      const auto share = sheet->number("share_percent", row);
      if (!batch) return tl::unexpected(batch.error());
      if (!share) return tl::unexpected(share.error());
      residents.push_back({.model = sheet->text("model", row), .batch = *batch, .share = *share});
    }
    const auto seen = published::forecast(profile, residents);
    for (std::size_t each = 0; each < members.size(); ++each) {
      const auto latency = sheet->number("latency_ms", members[each]);
      const auto throughput = sheet->number("throughput_rps", members[each]);
      if (!latency) return tl::unexpected(latency.error());
      if (!throughput) return tl::unexpected(throughput.error());
      const std::string what =
          fmt::format("prediction {}: {} ", name, sheet->text("model", members[each]));
      made.add(what + "latency", *latency, seen[each].latency, "ms");
      made.add(what + "throughput", *throughput, seen[each].throughput, "requests/s");
    }
  }
  return {};
}

void compare_plan(const json& plan, const published::IgniterProfile& profile, Comparison& made) {
  const auto name = plan.at("id").get<std::string>();
  std::vector<published::IgniterWorkload> workloads;
  for (const json& each : plan.at("workloads")) {
    workloads.push_back(
        {each.at(0).get<std::string>(), each.at(1).get<double>(), each.at(2).get<double>()});
    require(profile.models.contains(workloads.back().model),
            "no model is called " + workloads.back().model);
    require(workloads.back().slo > 0 && workloads.back().rate > 0 && workloads.back().rate <= 1e6,
            "expected an objective above 0, and a rate above 0 and at most a million");
  }
  const auto gpus = published::plan_igniter(profile, workloads);
  const json& published_gpus = plan.at("plan");
  made.add(fmt::format("plan {}: GPUs", name), static_cast<double>(published_gpus.size()),
           static_cast<double>(gpus.size()));
  std::size_t differ = 0;
  std::vector<double> published_latency, our_latency, published_rate, our_rate;
  for (std::size_t gpu = 0; gpu < gpus.size() && gpu < published_gpus.size(); ++gpu) {
    const auto seen = published::forecast(profile, gpus[gpu]);
    for (const auto& each : seen) {
      our_latency.push_back(each.latency);
      our_rate.push_back(each.throughput);
    }
    for (std::size_t each = 0; each < published_gpus[gpu].size(); ++each) {
      const json& theirs = published_gpus[gpu][each];
      published_latency.push_back(theirs.at("latency_ms").get<double>());
      published_rate.push_back(theirs.at("throughput_rps").get<double>());
      if (each >= gpus[gpu].size()) {
        ++differ;
        continue;
      }
      const auto& ours = gpus[gpu][each];
      differ += theirs.at("workload").get<int>() != ours.workload ||
                theirs.at("model").get<std::string>() != ours.model ||
                theirs.at("batch").get<double>() != ours.batch ||
                std::abs(theirs.at("share_percent").get<double>() - ours.share) > 1e-9;
    }
  }
  made.add_mismatches(fmt::format("plan {}: residents", name), differ);
  made.add_column(fmt::format("plan {}: latency", name), published_latency, our_latency, "ms");
  made.add_column(fmt::format("plan {}: throughput", name), published_rate, our_rate, "requests/s");
}

}  // namespace

Result<Comparison> compare_igniter(const Shared& shared) {
  const auto profile = published::read_igniter(shared.data + "/igniter/v100_fitted.json");
  if (!profile) return tl::unexpected(profile.error());
  Comparison made;
  const std::string folder = shared.golden + "/igniter";
  each_file(folder, "predictions", ".csv", made,
            [&](const std::string& path) { return compare_predictions(path, *profile, made); });
  each_file(folder, "plans", ".jsonl", made, [&](const std::string& path) {
    return each_json(path, made, [&](const json& plan) { compare_plan(plan, *profile, made); });
  });
  return made;
}

}  // namespace almanac::inference
