// SPDX-License-Identifier: Apache-2.0
#include "slurm/facts.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "slurm/age.h"
#include "text/duration.h"

namespace almanac::slurm {
namespace {

/// How long Slurm may take to see that a node has booted, or is off: it looks at nodes that change
/// only from time to time.
constexpr Duration kNoticed = 1min;

std::string value_of(const Site& site, const char* key) {
  const auto found = site.parameters.find(key);
  return found == site.parameters.end() ? std::string() : found->second;
}

/// Whether a list "a,b" has a word.
bool has_word(const std::string& list, std::string_view word) {
  return fmt::format(",{},", list).find(fmt::format(",{},", word)) != std::string::npos;
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

std::string order_obstacle(const Site& site) {
  const std::string plugin = value_of(site, "PrioritySiteFactorPlugin");
  if (plugin.empty() || plugin == "(null)" || plugin == "site_factor/none") return {};
  return fmt::format("PrioritySiteFactorPlugin {} already sets site factors", plugin);
}

std::string power_obstacle(const Site& site) {
  if (!is_told(value_of(site, "SuspendProgram")) || !is_told(value_of(site, "ResumeProgram"))) {
    return "slurm.conf has no SuspendProgram or ResumeProgram, so Slurm cannot power nodes up or "
           "down";
  }
  if (!is_told(value_of(site, "SuspendTime")))
    return "slurm.conf has no SuspendTime, without which Slurm never powers nodes down";
  return {};
}

bool enforces_limits(const Site& site) {
  const std::string enforced = value_of(site, "AccountingStorageEnforce");
  return has_word(enforced, "limits") || has_word(enforced, "safe") || has_word(enforced, "all");
}

}  // namespace

void tell_facts(Site& site) {
  site.manager = "slurm";
  const Duration down = time_of(value_of(site, "SuspendTimeout"), 30s);
  const Duration up = time_of(value_of(site, "ResumeTimeout"), 60s);
  const auto half_life = text::parse_duration(value_of(site, "PriorityDecayHalfLife"));
  site.facts = {.order_obstacle = order_obstacle(site),
                .sharing_obstacle = has_word(value_of(site, "GresTypes"), "shard")
                                        ? ""
                                        : "GresTypes has no shard, so jobs cannot share a GPU",
                .power_obstacle = power_obstacle(site),
                .keeps_priorities = value_of(site, "PriorityType") == "priority/basic",
                .requeues_by_default = value_of(site, "JobRequeue") != "0",
                .enforces_limits = enforces_limits(site),
                .loses_age_when_held = loses_age_when_held(site),
                .half_life = std::max(Duration{0}, half_life.value_or(Duration{0})),
                .power_cycle = down + up + 2 * kNoticed};
}

}  // namespace almanac::slurm
