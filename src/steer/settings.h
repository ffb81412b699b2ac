// SPDX-License-Identifier: Apache-2.0

/// \file
/// What an operator lets Almanac do to their Slurm: which levers it may touch, whose jobs it must
/// not, and how fast.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "service/manager.h"

namespace almanac::steer {

using service::Switch;
/// "off", "dry", "on"; fails with usage.
Result<Switch> parse_switch(std::string_view word);

/// What the virtual clusters are: nodes that serve their own jobs only. Accounts and QOS own no
/// nodes: their jobs stand in the lines of their partitions, and are called by theirs.
enum class Grouping : std::uint8_t {
  partitions,  ///< Each partition; those that share a node are one.
  accounts,
  qos,
  all,  ///< All nodes and all jobs are one.
};

constexpr bool owns_nodes(Grouping grouping) {
  return grouping == Grouping::partitions || grouping == Grouping::all;
}

/// Whose jobs no lever touches, and no policy sees.
struct Exempt {
  std::set<std::string> users{};
  std::set<std::string> accounts{};
  std::set<std::string> qos{};
  std::set<std::string> partitions{};
};

struct OrderSettings {
  /// Site factors, or priorities, are never set outside of it.
  std::int64_t lowest = 1;
  std::int64_t highest = 1'000'000'000;
  /// Jobs that have waited longer go first, the one that waited longest before the others.
  /// kNoDuration = no such bound.
  Duration age_cap = 24h * 7;
};

struct PlacementSettings {
  /// A job that was released and has not started is taken back after so long.
  Duration patience = 1min;
};

struct PowerSettings {
  int minimum_on = 1;         ///< Nodes in service, of all together.
  int wakes_per_minute = 30;  ///< Nodes at most, but for those that an operator wants back.
};

struct PreemptionSettings {
  bool suspends = false;  ///< Jobs without GPUs; all others are requeued.
  Duration once_in = 1h;  ///< Each job at most, and not before it has run for as long.
};

struct SlimmingSettings {
  /// Of a node's memory, GB/s; 0 = not known, and no job is slowed for the sake of others.
  double bandwidth_gbs = 0;
};

/// About jobs that hold GPUs which do not compute.
struct IdleSettings {
  bool requeues = false;   ///< After the grace, those that may be; else users hear of it only.
  Duration after = 30min;  ///< Idle for so long, a user hears of it.
  Duration grace = 10min;  ///< Between that and the requeue.
  double below = 0.01;     ///< Share of the time in which GPUs compute: idle is less.
  std::string hook{};      ///< Run by /bin/sh when a user is to hear of it; "" = none.
};

/// A part of the cluster to try levers on.
struct CanarySettings {
  std::set<std::string> partitions{};  ///< None = levers are for all jobs.
  Duration history = 24h * 28;         ///< What is expected is learned from so much of the past.
  Duration window = 6h;                ///< Waits and failures are averaged over.
  Duration patience = 1h;              ///< Out of what is expected for so long, and levers rest.
  double slack = 1.25;                 ///< The upper end of what is expected, times this.
};

struct Settings {
  Grouping virtual_clusters = Grouping::partitions;
  Exempt exempt{};
  std::map<std::string, Switch, std::less<>> levers{};  ///< Those that are not here are dry.
  double changes_per_s = 400;                           ///< The most that Slurm is asked to change.
  Duration poll = 1s;                                   ///< Between two questions what is new.
  OrderSettings order{};
  PlacementSettings placement{};
  PowerSettings power{};
  PreemptionSettings preemption{};
  SlimmingSettings slimming{};
  IdleSettings idle{};
  CanarySettings canary{};

  Switch of(std::string_view lever) const {
    const auto found = levers.find(lever);
    return found == levers.end() ? Switch::dry : found->second;
  }
};

/// Reads them from a TOML file, as docs/guide/slurm.md describes it.
Result<Settings> read_settings(const std::string& path);

}  // namespace almanac::steer
