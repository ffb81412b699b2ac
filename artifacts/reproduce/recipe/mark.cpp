// SPDX-License-Identifier: Apache-2.0

/// \file
/// MArk: what the released planner rents, starts and ends, and what the first version rents.
///
/// Source   Zhang et al., MArk, ATC'19.
#include "serving/mark.h"

#include <algorithm>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_mark(Recipes& registry);

namespace mark_recipe {
namespace {

using namespace serving;

constexpr const char* kPlans = "golden/mark/*.json";
constexpr std::size_t kLeastForecast = 3;  // minutes
constexpr double kMostInstances = 1e6;

void add_plan(Bench& bench, const std::string& what, const Json& theirs,
              const std::vector<int>& ours) {
  const auto published = theirs.get<std::vector<int>>();
  std::size_t differ = std::max(published.size(), ours.size());
  for (std::size_t type = 0; type < std::min(published.size(), ours.size()); ++type) {
    differ -= published[type] == ours[type];
  }
  bench.add_mismatches(what, differ);
}

void compare_plan(Bench& bench, const Json& told) {
  std::vector<MarkInstance> instances;
  for (const Json& each : told.at("instances")) {
    instances.push_back(
        {each.at("capacity_per_min"), each.at("price_per_s"), each.at("launch_cost")});
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
    const MarkPlan plan = plan_mark(instances, current, forecast);
    const Json& theirs = told.at("released");
    add_plan(bench, what + "target", theirs.at("target"), plan.target);
    add_plan(bench, what + "launch", theirs.at("launch"), plan.launch);
    add_plan(bench, what + "destroy", theirs.at("destroy"), plan.destroy);
  }
  // Where the first version ended with an error nothing of it is told.
  if (told.contains("older") && told.at("older").is_object()) {
    require(forecast.size() >= kLeastForecast, "expected a forecast of three minutes or more");
    const OlderMarkPlan plan = plan_older_mark(instances, current, forecast);
    const Json& theirs = told.at("older");
    add_plan(bench, what + "first version, now", theirs.at("plan_step0"), plan.now);
    add_plan(bench, what + "first version, in the third minute", theirs.at("plan_step2"),
             plan.soon);
  }
}

}  // namespace
}  // namespace mark_recipe

void register_mark(Recipes& registry) {
  using namespace mark_recipe;
  registry.add({.name = "mark",
                .summary = "instances that MArk rents for a forecast",
                .paper = "Zhang et al., ATC'19 (MArk)",
                .kind = Kind::rerun,
                .needs = {{kPlans, "both planners of MArk on drawn forecasts"}},
                .make = [](Bench& bench) {
                  bench.each(kPlans, [&](const File& file) {
                    each_case(file, [&](const Json& told) { compare_plan(bench, told); });
                  });
                }});
}

}  // namespace almanac::reproduce
