// SPDX-License-Identifier: Apache-2.0
#include "steer/action/weight_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "steer/action/job_line.h"
#include "steer/node_weight.h"

namespace almanac::steer {

std::string WeightChange::describe() const {
  return fmt::format("{}: weight {}", fmt::join(nodes, ","), weight);
}

std::optional<std::string> WeightChange::forbidden(const Scene& scene) const {
  for (const std::string& name : nodes) {
    if (!scene.mirror.nodes().contains(name)) return fmt::format("there is no node {}", name);
  }
  return std::nullopt;
}

// The lever looks itself: what is given back may be of any node.
bool WeightChange::is_in_scope(const Scene& /*scene*/) const { return true; }

std::vector<Result<void>> WeightChange::execute(std::span<const WeightChange* const> changes,
                                                manager::Link& link) {
  std::vector<Result<void>> made;
  for (const WeightChange* const each : changes) {
    made.push_back(link.weigh(each->nodes, each->weight));
  }
  return made;
}

void WeightChange::record(nlohmann::json& into) const {
  into["nodes"] = nodes;
  into["weight"] = weight;
}

std::optional<WeightChange> WeightChange::read(const nlohmann::json& line) {
  if (!line.contains("weight")) return std::nullopt;
  return WeightChange{line.at("nodes"), whole<std::uint32_t>(line.at("weight"))};
}

void WeightClaims::take(const WeightChange& change, const Done& done) {
  if (done.is_undo) weighed_back_.insert(change.nodes.begin(), change.nodes.end());
}

void WeightClaims::forget_gone(const Mirror& /*mirror*/) { weighed_back_.clear(); }

std::vector<WeightChange> WeightClaims::invert(const Mirror& mirror) const {
  std::vector<WeightChange> made;
  for (auto& [weight, nodes] : usual_weights(mirror.nodes())) {
    std::vector<std::string> left = nodes;
    std::erase_if(left, [&](const std::string& each) { return weighed_back_.contains(each); });
    if (!left.empty()) made.push_back({std::move(left), weight});
  }
  return made;
}

std::vector<std::pair<Time, WeightChange>> WeightClaims::standing(Time /*at*/) const { return {}; }

}  // namespace almanac::steer
