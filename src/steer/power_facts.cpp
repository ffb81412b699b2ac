// SPDX-License-Identifier: Apache-2.0
#include "steer/power_facts.h"

#include <algorithm>
#include <charconv>

namespace almanac::steer {
namespace {

/// How long Slurm may take to see that a node has booted, or is off.
constexpr Duration kNoticed = 1min;

std::string value_of(const manager::Site& site, const char* key) {
  const auto found = site.parameters.find(key);
  return found == site.parameters.end() ? std::string() : found->second;
}

bool is_told(const std::string& value) {
  return !value.empty() && value != "(null)" && value != "NONE" && value != "INFINITE" &&
         value != "UNLIMITED" && value != "-1" && !value.starts_with("-1 ");
}

/// "30 sec"
Duration time_of(const std::string& value, Duration missing) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && number >= 0 ? number * 1s : missing;
}

}  // namespace

PowerFacts power_facts(const manager::Site& site) {
  PowerFacts made{.has_programs = is_told(value_of(site, "SuspendProgram")) &&
                                  is_told(value_of(site, "ResumeProgram")),
                  .is_on = is_told(value_of(site, "SuspendTime")),
                  .down = time_of(value_of(site, "SuspendTimeout"), 30s),
                  .up = time_of(value_of(site, "ResumeTimeout"), 60s)};
  made.back = made.down + made.up + 2 * kNoticed;
  return made;
}

bool is_due(const std::string& node, const Mirror& mirror, Duration within) {
  const auto& reservations = mirror.reservations();
  return std::any_of(reservations.begin(), reservations.end(), [&](const auto& each) {
    const bool is_past = each.end != kNoTime && each.end <= mirror.at();
    if (is_past || each.start > mirror.at() + within) return false;
    return std::find(each.nodes.begin(), each.nodes.end(), node) != each.nodes.end();
  });
}

}  // namespace almanac::steer
