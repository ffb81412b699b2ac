// SPDX-License-Identifier: Apache-2.0
#include "steer/settings.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "text/toml_file.h"
#include "text/toml_reader.h"

namespace almanac::steer {
namespace {

constexpr double kMostChanges = 100'000;
constexpr double kLongest_s = 3600;
constexpr double kOldest_h = 24.0 * 3650;

class Reader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  Settings read(const toml::table& file) {
    allow(file, {"virtual_clusters", "changes_per_s", "poll_s", "exempt", "levers", "order",
                 "placement", "power", "preemption", "slimming", "idle", "canary"});
    Settings made;
    made.virtual_clusters = choice(file, "virtual_clusters",
                                   {"partitions", "accounts", "qos", "all"}, made.virtual_clusters);
    made.changes_per_s = number(file, "changes_per_s", made.changes_per_s, 1, kMostChanges);
    made.poll = time(file, "poll_s", 1s, made.poll, kLongest_s);
    if (const toml::table* const exempt = table(file, "exempt")) {
      allow(*exempt, {"users", "accounts", "qos", "partitions"});
      made.exempt.users = words(*exempt, "users");
      made.exempt.accounts = words(*exempt, "accounts");
      made.exempt.qos = words(*exempt, "qos");
      made.exempt.partitions = words(*exempt, "partitions");
    }
    if (const toml::table* const levers = table(file, "levers")) read_levers(*levers, made);
    if (const toml::table* const order = table(file, "order")) read_order(*order, made.order);
    if (const toml::table* const placement = table(file, "placement")) {
      allow(*placement, {"patience_s"});
      made.placement.patience =
          time(*placement, "patience_s", 1s, made.placement.patience, kLongest_s);
    }
    if (const toml::table* const power = table(file, "power")) {
      allow(*power, {"minimum_on", "wakes_per_minute"});
      made.power.minimum_on = whole(*power, "minimum_on", made.power.minimum_on, 0);
      made.power.wakes_per_minute =
          whole(*power, "wakes_per_minute", made.power.wakes_per_minute, 1);
    }
    if (const toml::table* const preemption = table(file, "preemption")) {
      read_preemption(*preemption, made.preemption);
    }
    if (const toml::table* const slimming = table(file, "slimming")) {
      allow(*slimming, {"bandwidth_gbs"});
      constexpr double kMost_gbs = 1e6;
      made.slimming.bandwidth_gbs = number(*slimming, "bandwidth_gbs", 0, 0, kMost_gbs);
    }
    if (const toml::table* const idle = table(file, "idle")) read_idle(*idle, made.idle);
    if (const toml::table* const canary = table(file, "canary")) {
      read_canary(*canary, made.canary);
      if (!made.canary.partitions.empty() && !owns_nodes(made.virtual_clusters)) {
        refuse(*canary, "a canary needs virtual_clusters = \"partitions\"");
      }
    }
    return made;
  }

 private:
  /// Which of `words` it is, by position; `missing` = it is not said.
  template <typename Choice>
  Choice choice(const toml::table& from, const char* key, const std::vector<std::string>& words,
                Choice missing) {
    const toml::node* const node = from.get(key);
    if (node == nullptr) return missing;
    const auto found = std::find(words.begin(), words.end(), node->value_or(std::string()));
    if (found != words.end()) return Choice(found - words.begin());
    refuse(*node, fmt::format("{} must be \"{}\" or \"{}\"", key,
                              fmt::join(words.begin(), words.end() - 1, "\", \""), words.back()));
  }
  double number(const toml::table& from, const char* key, double missing, double least,
                double most) {
    const toml::node* const node = from.get(key);
    if (node == nullptr) return missing;
    const auto found = node->value<double>();
    if (!found || !(*found >= least && *found <= most)) {
      refuse(*node, fmt::format("{} must be a number from {} to {}", key, least, most));
    }
    return *found;
  }

  int whole(const toml::table& from, const char* key, int missing, int least) {
    constexpr int kMost = 1'000'000;
    const double found = number(from, key, missing, least, kMost);
    if (found != std::floor(found))
      refuse(*from.get(key), fmt::format("{} must be a whole number", key));
    return static_cast<int>(found);
  }

  void read_preemption(const toml::table& from, PreemptionSettings& made) {
    allow(from, {"by", "once_in_h"});
    made.suspends = choice(from, "by", {"requeue", "suspend"}, made.suspends);
    made.once_in = time(from, "once_in_h", 1h, made.once_in, kOldest_h);
  }

  void read_idle(const toml::table& from, IdleSettings& made) {
    allow(from, {"mode", "after_min", "grace_min", "below", "hook"});
    made.requeues = choice(from, "mode", {"notify", "requeue"}, made.requeues);
    made.after = time(from, "after_min", 1min, made.after, kOldest_h);
    made.grace = time(from, "grace_min", 1min, made.grace, kOldest_h);
    constexpr double kLeast = 1e-6;
    constexpr double kMost = 0.999;
    made.below = number(from, "below", made.below, kLeast, kMost);
    if (const toml::node* const node = from.get("hook")) {
      const auto command = node->value<std::string>();
      if (!command) refuse(*node, "hook must be a command, as a string");
      made.hook = *command;
    }
  }

  void read_canary(const toml::table& from, CanarySettings& made) {
    allow(from, {"partitions", "history_d", "window_h", "patience_h", "slack"});
    made.partitions = words(from, "partitions");
    made.history = time(from, "history_d", 24h, made.history, kOldest_h / 24);
    made.window = time(from, "window_h", 1h, made.window, kOldest_h);
    made.patience = time(from, "patience_h", 1h, made.patience, kOldest_h);
    constexpr double kMostSlack = 100;
    made.slack = number(from, "slack", made.slack, 1, kMostSlack);
  }

  Duration time(const toml::table& from, const char* key, Duration unit, Duration missing,
                double most) {
    if (from.get(key) == nullptr) return missing;
    constexpr double kLeast = 0.01;
    const double units = number(from, key, 0, kLeast, most);
    return Duration{std::llround(units * static_cast<double>(unit.count()))};
  }

  std::set<std::string> words(const toml::table& from, const char* key) {
    std::set<std::string> made;
    const toml::node* const node = from.get(key);
    if (node == nullptr) return made;
    if (!node->is_array()) refuse(*node, fmt::format("{} must be a list of names", key));
    for (const toml::node& each : *node->as_array()) {
      const auto word = each.value<std::string>();
      if (!word) refuse(each, fmt::format("{} must be a list of names", key));
      made.insert(*word);
    }
    return made;
  }

  void read_levers(const toml::table& from, Settings& made) {
    for (const auto& [key, node] : from) {
      const auto how = parse_switch(node.value_or(std::string()));
      if (!how) refuse(node, fmt::format("{} must be \"off\", \"dry\" or \"on\"", key.str()));
      made.levers[std::string(key.str())] = *how;
    }
  }

  void read_order(const toml::table& from, OrderSettings& made) {
    allow(from, {"window", "age_cap_h"});
    made.age_cap = time(from, "age_cap_h", 1h, made.age_cap, kOldest_h);
    const toml::node* const window = from.get("window");
    if (window == nullptr) return;
    const toml::array* const ends = window->as_array();
    const auto end = [&](std::size_t at) {
      return ends != nullptr && ends->size() == 2 ? ends->get(at)->value<std::int64_t>()
                                                  : std::nullopt;
    };
    // What Slurm takes: an offset from NICE_OFFSET, 2^31.
    constexpr std::int64_t kMost = 2'000'000'000;
    if (!end(0) || !end(1) || *end(0) >= *end(1) || *end(0) < -kMost || *end(1) > kMost) {
      refuse(*window, fmt::format("window must be [LOWEST, HIGHEST] within {} of 0", kMost));
    }
    made.lowest = *end(0);
    made.highest = *end(1);
  }
};

}  // namespace

Result<Switch> parse_switch(std::string_view word) {
  for (const Switch how : {Switch::off, Switch::dry, Switch::on}) {
    if (word == to_string(how)) return how;
  }
  return fail(Code::usage, fmt::format("a lever is off, dry or on, not \"{}\"", word));
}

Result<Settings> read_settings(const std::string& path) {
  return text::read_toml_file<Reader>(path);
}

}  // namespace almanac::steer
