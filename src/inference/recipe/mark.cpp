// SPDX-License-Identifier: Apache-2.0

/// \file
/// MArk: what the released planner rents, starts and ends.
#include "inference/published/mark.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/recipe/recipes.h"
#include "table/lines.h"

namespace almanac::inference {
namespace {

using nlohmann::json;

void compare_plan(const json& told, Comparison& made) {
  std::vector<published::MarkInstance> instances;
  for (const json& each : told.at("instances")) {
    instances.push_back({each.at("capacity_per_min").get<double>(),
                         each.at("price_per_s").get<double>(),
                         each.at("launch_cost").get<double>()});
  }
  const auto plan = published::plan_mark(instances, told.at("current").get<std::vector<int>>(),
                                         told.at("forecast").get<std::vector<double>>());
  const json& theirs = told.at("released");
  for (const auto& [name, ours] :
       {std::pair<const char*, const std::vector<int>&>("target", plan.target),
        {"launch", plan.launch},
        {"destroy", plan.destroy}}) {
    std::size_t differ = 0;
    const auto published = theirs.at(name).get<std::vector<int>>();
    for (std::size_t type = 0; type < ours.size(); ++type) {
      differ += type >= published.size() || published[type] != ours[type];
    }
    made.add_mismatches(fmt::format("plan {}: {}", told.at("id").dump(), name), differ);
  }
}

}  // namespace

Result<Comparison> compare_mark(const Shared& shared) {
  const std::string path = shared.golden + "/mark/plans.jsonl";
  auto lines = table::Lines::open(path);
  if (!lines) return tl::unexpected(lines.error());
  Comparison made;
  while (true) {
    const auto line = lines->next();
    if (!line) return tl::unexpected(line.error());
    if (*line == nullptr) return made;
    if (**line == '\0') continue;
    try {
      compare_plan(json::parse(*line), made);
    } catch (const json::exception& error) {
      made.fail({Code::invalid, error.what(), {.file = path, .line = lines->line()}});
    }
  }
}

}  // namespace almanac::inference
