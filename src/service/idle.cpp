// SPDX-License-Identifier: Apache-2.0
#include "service/idle.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "process/capture.h"
#include "text/toml_file.h"
#include "text/toml_reader.h"

namespace almanac::service {
namespace {

/// Between two looks that follow each other.
constexpr Duration kGap = 1min;

constexpr std::array<std::pair<const char*, IdleMode>, 4> kModes{{{"off", IdleMode::off},
                                                                  {"dry", IdleMode::dry},
                                                                  {"notify", IdleMode::notify},
                                                                  {"requeue", IdleMode::requeue}}};

class IdleReader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  IdleRule read(const toml::table& file) {
    allow(file, {"mode", "after_min", "grace_min", "below", "exempt", "only", "hook"});
    IdleRule made;
    made.mode = mode(file);
    made.after = minutes(file, "after_min", made.after);
    made.grace = minutes(file, "grace_min", made.grace);
    if (const toml::node* const node = file.get("below")) {
      const auto share = node->value<double>();
      if (!share || !(*share > 0 && *share < 1)) refuse(*node, "below must be between 0 and 1");
      made.below = *share;
    }
    made.exempt = users(file, "exempt");
    made.only = users(file, "only");
    if (const toml::node* const node = file.get("hook")) {
      const auto command = node->value_exact<std::string>();
      if (!command) refuse(*node, "hook must be a command, as a string");
      made.hook = *command;
    }
    return made;
  }

 private:
  IdleMode mode(const toml::table& file) const {
    const toml::node* const node = file.get("mode");
    if (node == nullptr) return IdleMode::dry;
    const std::string said = node->value_or(std::string());
    for (const auto& [name, mode] : kModes) {
      if (said == name) return mode;
    }
    refuse(*node, "mode must be \"off\", \"dry\", \"notify\" or \"requeue\"");
  }

  Duration minutes(const toml::table& file, const char* key, Duration missing) const {
    const toml::node* const node = file.get(key);
    if (node == nullptr) return missing;
    constexpr double kMost = 60.0 * 24 * 7;
    const auto said = node->value<double>();
    if (!said || !(*said > 0 && *said <= kMost)) {
      refuse(*node, fmt::format("{} must be more than 0 and at most {}", key, kMost));
    }
    return Duration{std::llround(*said * 60'000)};
  }

  std::set<std::string> users(const toml::table& file, const char* key) const {
    std::set<std::string> made;
    const toml::node* const node = file.get(key);
    if (node == nullptr) return made;
    if (!node->is_array()) refuse(*node, fmt::format("{} must be a list of users", key));
    for (const toml::node& each : *node->as_array()) {
      const auto user = each.value_exact<std::string>();
      if (!user) refuse(each, fmt::format("{} must be a list of users", key));
      made.insert(*user);
    }
    return made;
  }
};

}  // namespace

bool IdleRule::is_for(const std::string& user) const {
  return !exempt.contains(user) && (only.empty() || only.contains(user));
}

Result<IdleRule> read_idle_rule(const std::string& path) {
  return text::read_toml_file<IdleReader>(path);
}

Result<void> send(const IdleRule& rule, const IdleLetter& letter, const process::Bell* stop) {
  if (rule.hook.empty()) return {};
  const auto ran = process::capture(
      {.argv = {"/bin/sh", "-c", rule.hook},
       .environment = {{"ALMANAC_USER", letter.user},
                       {"ALMANAC_JOB_ID", std::to_string(static_cast<std::int64_t>(letter.job))},
                       {"ALMANAC_TEXT", letter.text}}},
      10s, stop);
  if (!ran) return tl::unexpected(ran.error());
  if (ran->ending.good()) return {};
  return fail(Code::unavailable, process::to_string(ran->ending), {.file = rule.hook});
}

IdleStep IdleWatch::take(store::JobNumber job, std::int32_t attempt, const perf::Stretch& use) {
  Seen& seen = seen_[job];
  const bool goes_on = seen.attempt == attempt && use.from - seen.until <= kGap;
  if (!goes_on) seen = {.attempt = attempt};
  seen.until = use.to;
  if (use.value >= rule_.below) {
    const bool was_warned = seen.warned != kNoTime;
    seen = {.attempt = attempt, .until = use.to};
    return was_warned ? IdleStep::busy_again : IdleStep::nothing;
  }
  if (seen.since == kNoTime) seen.since = use.from;
  if (use.to - seen.since < rule_.after) return IdleStep::nothing;
  if (seen.warned == kNoTime) {
    seen.warned = use.to;
    return IdleStep::warn;
  }
  if (seen.acted || use.to - seen.warned < rule_.grace) return IdleStep::nothing;
  seen.acted = true;
  return IdleStep::act;
}

void IdleWatch::keep_only(const std::set<store::JobNumber>& running) {
  std::erase_if(seen_, [&](const auto& each) { return !running.contains(each.first); });
}

}  // namespace almanac::service
