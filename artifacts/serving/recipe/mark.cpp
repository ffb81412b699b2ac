// SPDX-License-Identifier: Apache-2.0

/// \file
/// MArk: what the released planner rents, starts and ends, and what the first version rents.
#include "serving/mark.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "serving/recipe/json_lines.h"
#include "serving/recipe/recipes.h"

namespace almanac::inference {
namespace {

using nlohmann::json;

constexpr std::size_t kLeastForecast = 3;  // minutes
constexpr double kMostInstances = 1e6;

void add_plan(const std::string& what, const json& theirs, const std::vector<int>& ours,
              Comparison& made) {
  const auto published = theirs.get<std::vector<int>>();
  std::size_t differ = std::max(published.size(), ours.size());
  for (std::size_t type = 0; type < std::min(published.size(), ours.size()); ++type) {
    differ -= published[type] == ours[type];
  }
  made.add_mismatches(what, differ);
}

void compare_plan(const json& told, Comparison& made) {
  std::vector<published::MarkInstance> instances;
  for (const json& each : told.at("instances")) {
    instances.push_back({each.at("capacity_per_min").get<double>(),
                         each.at("price_per_s").get<double>(),
                         each.at("launch_cost").get<double>()});
    require(instances.back().capacity > 0, "expected capacities above 0");
  }
  const auto current = told.at("current").get<std::vector<int>>();
  const auto forecast = told.at("forecast").get<std::vector<double>>();
  require(current.size() == instances.size(), "expected a number in current for each instance");
  require(std::all_of(current.begin(), current.end(), [](int each) { return each >= 0; }),
          "expected current numbers of 0 or more");
  for (const double each : forecast) {
    require(std::all_of(instances.begin(), instances.end(),
                        [&](const auto& type) { return each <= kMostInstances * type.capacity; }),
            "expected a forecast that a million instances serve");
  }
  const std::string what = fmt::format("plan {}: ", told.at("id").dump());
  if (told.contains("released")) {
    const auto plan = published::plan_mark(instances, current, forecast);
    const json& theirs = told.at("released");
    add_plan(what + "target", theirs.at("target"), plan.target, made);
    add_plan(what + "launch", theirs.at("launch"), plan.launch, made);
    add_plan(what + "destroy", theirs.at("destroy"), plan.destroy, made);
  }
  // Where the first version ended with an error nothing of it is told.
  if (told.contains("older") && told.at("older").is_object()) {
    require(forecast.size() >= kLeastForecast, "expected a forecast of three minutes or more");
    const auto plan = published::plan_older_mark(instances, current, forecast);
    const json& theirs = told.at("older");
    add_plan(what + "first version, now", theirs.at("plan_step0"), plan.now, made);
    add_plan(what + "first version, in the third minute", theirs.at("plan_step2"), plan.soon, made);
  }
}

}  // namespace

Result<Comparison> compare_mark(const Shared& shared) {
  Comparison made;
  each_file(shared.golden + "/mark", "", ".jsonl", made, [&](const std::string& path) {
    return each_json(path, made, [&](const json& told) { compare_plan(told, made); });
  });
  return made;
}

}  // namespace almanac::inference
