// SPDX-License-Identifier: Apache-2.0
#include "steer/node_commands.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace almanac::steer {
namespace {

using manager::Power;

/// The manager needs a moment to show what it was told.
constexpr Duration kAgain = 30s;

}  // namespace

void NodeCommands::look(const Mirror& mirror, Duration patience) {
  now_ = mirror.at();
  power_.clear();
  for (const auto& [name, node] : mirror.nodes()) power_.emplace(name, node.power);
  std::erase_if(stuck_, [&](const auto& each) {
    const auto found = power_.find(each.first);
    return found == power_.end() || found->second != each.second.power;
  });
  for (auto at = commands_.begin(); at != commands_.end();) {
    const auto each = at++;
    const auto found = power_.find(each->first);
    const Command& command = each->second;
    const bool is_there = found != power_.end();
    const bool is_done = is_there && found->second == (command.on ? Power::on : Power::off);
    if (is_there && !is_done && now_ - command.first < patience) continue;
    if (is_there && !is_done) stuck_[each->first] = {command.on, found->second};
    commands_.erase(each);
  }
}

std::vector<std::string> NodeCommands::due(const std::vector<std::string>& nodes, bool on) const {
  std::vector<std::string> made;
  for (const std::string& name : nodes) {
    const auto power = power_.find(name);
    if (power == power_.end() || stuck_.contains(name)) continue;
    const bool is_ready = on ? power->second == Power::off || power->second == Power::to_power_down
                             : power->second == Power::on;
    const auto command = commands_.find(name);
    const bool is_told = command != commands_.end() && command->second.on == on &&
                         now_ - command->second.last < kAgain;
    if (is_ready && !is_told) made.push_back(name);
  }
  return made;
}

void NodeCommands::given(const std::vector<std::string>& nodes, bool on) {
  for (const std::string& name : nodes) {
    const auto [at, is_new] = commands_.try_emplace(name, Command{on, now_, now_});
    if (is_new) continue;
    if (at->second.on != on) at->second.first = now_;
    at->second.on = on;
    at->second.last = now_;
  }
}

std::vector<std::string> NodeCommands::warnings() const {
  std::vector<std::string> made;
  for (const bool on : {true, false}) {
    std::vector<std::string> names;
    for (const auto& [name, stuck] : stuck_) {
      if (stuck.on == on) names.push_back(name);
    }
    if (names.empty()) continue;
    made.push_back(fmt::format(
        "power {} had no effect on {}: Almanac leaves these nodes alone until their state changes",
        on ? "up" : "down", fmt::join(names, ",")));
  }
  return made;
}

}  // namespace almanac::steer
