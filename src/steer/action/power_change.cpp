// SPDX-License-Identifier: Apache-2.0
#include "steer/action/power_change.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "steer/reservations.h"
#include "steer/scope.h"

namespace almanac::steer {
namespace {

/// How long the manager may take to show that a node powers down.
constexpr Duration kPowerDownShows = 2min;

bool is_off(manager::Power power) {
  return power == manager::Power::off || power == manager::Power::powering_down ||
         power == manager::Power::to_power_down;
}

}  // namespace

std::string PowerChange::describe() const {
  return fmt::format("{}: power {}", fmt::join(nodes, ","), on ? "on" : "off");
}

std::optional<std::string> PowerChange::forbidden(const Scene& scene) const {
  for (const std::string& name : nodes) {
    const auto found = scene.mirror.nodes().find(name);
    if (found == scene.mirror.nodes().end()) return fmt::format("there is no node {}", name);
    if (on) continue;
    if (found->second.busy) return fmt::format("node {} runs a job", name);
    if (found->second.reserved || is_due(name, scene.mirror, scene.site.facts.power_cycle)) {
      return fmt::format("node {} is reserved", name);
    }
  }
  return std::nullopt;
}

bool PowerChange::is_in_scope(const Scene& scene) const {
  return std::all_of(nodes.begin(), nodes.end(), [&](const std::string& name) {
    const auto found = scene.mirror.nodes().find(name);
    return found == scene.mirror.nodes().end() || steer::is_in_scope(found->second, scene.settings);
  });
}

std::vector<Result<void>> PowerChange::execute(std::span<const PowerChange* const> changes,
                                               manager::Link& link) {
  std::vector<Result<void>> made;
  for (const PowerChange* const each : changes) made.push_back(link.power(each->nodes, each->on));
  return made;
}

void PowerChange::record(nlohmann::json& into) const {
  into["nodes"] = nodes;
  into["power"] = on ? "on" : "off";
}

std::optional<PowerChange> PowerChange::read(const nlohmann::json& line) {
  if (!line.contains("power")) return std::nullopt;
  return PowerChange{line.at("nodes"), line.at("power") == "on"};
}

void PowerClaims::take(const PowerChange& change, const Done& done) {
  for (const std::string& node : change.nodes) {
    if (!change.on) {
      nodes_[node] = {.off = done.at};
    } else if (const auto found = nodes_.find(node); found != nodes_.end()) {
      found->second.on = done.at;
    }
  }
}

void PowerClaims::forget_gone(const Mirror& mirror) {
  // A command to power up may be lost: a node is not ours any more when it is seen to be on.
  std::erase_if(nodes_, [&](const auto& each) {
    const auto found = mirror.nodes().find(each.first);
    if (found == mirror.nodes().end()) return true;
    if (is_off(found->second.power)) return false;
    return each.second.on != kNoTime || mirror.at() > each.second.off + kPowerDownShows;
  });
}

std::vector<PowerChange> PowerClaims::invert(const Mirror& mirror) const {
  std::vector<std::string> off = asleep(mirror);
  // Not twice before there is news.
  std::erase_if(off, [&](const std::string& node) { return nodes_.at(node).on == mirror.at(); });
  if (off.empty()) return {};
  return {{std::move(off), true}};
}

std::vector<std::pair<Time, PowerChange>> PowerClaims::standing(Time /*at*/) const {
  std::vector<std::pair<Time, PowerChange>> made;
  for (const auto& [node, sleep] : nodes_) {
    made.push_back({sleep.off, {{node}, false}});
    if (sleep.on != kNoTime) made.push_back({sleep.on, {{node}, true}});
  }
  return made;
}

std::vector<std::string> PowerClaims::asleep(const Mirror& mirror) const {
  std::vector<std::string> made;
  for (const auto& [name, times] : nodes_) {
    const auto found = mirror.nodes().find(name);
    if (found != mirror.nodes().end() && is_off(found->second.power)) made.push_back(name);
  }
  return made;
}

}  // namespace almanac::steer
