// SPDX-License-Identifier: Apache-2.0

/// \file
/// What an operator allows Almanac to do on a managed cluster: which levers it may use, which jobs
/// are exempt, and how fast it may act.
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
/// Reads "off", "dry" or "on". Fails with usage.
Result<Switch> parse_switch(std::string_view word);

/// What the virtual clusters are. Partitions own nodes, which serve their own jobs only. Accounts
/// and QOS own no nodes: their jobs wait in the queues of their partitions.
enum class Grouping : std::uint8_t {
  partitions,  ///< Each partition; partitions that share a node are one virtual cluster.
  accounts,
  qos,
  all,  ///< All nodes and all jobs are one virtual cluster.
};

constexpr bool owns_nodes(Grouping grouping) {
  return grouping == Grouping::partitions || grouping == Grouping::all;
}

/// Exempt jobs: no lever touches them, and no policy sees them.
struct Exempt {
  std::set<std::string> users{};
  std::set<std::string> accounts{};
  std::set<std::string> qos{};
  std::set<std::string> partitions{};
};

struct OrderSettings {
  /// Range of the site factors, or priorities, that Almanac sets.
  std::int64_t lowest = 1;
  std::int64_t highest = 1'000'000'000;
  /// Jobs that have waited longer go first, the longest wait first. kNoDuration for no age cap.
  Duration age_cap = 24h * 7;
};

struct PlacementSettings {
  /// A released job that has not started after this time is held again.
  Duration patience = 1min;
};

struct PowerSettings {
  int minimum_on = 1;         ///< Nodes in service, over all partitions.
  int wakes_per_minute = 30;  ///< At most; nodes that an operator wants back do not count.
};

struct PreemptionSettings {
  bool suspends = false;  ///< Suspends jobs without GPUs; all other jobs are requeued.
  Duration once_in = 1h;  ///< Each job at most once in this time, and not before it has run for so
                          ///< long.
};

struct SlimmingSettings {
  /// Memory bandwidth of a node, GB/s; 0 if unknown, in which case no job is slowed for others.
  double bandwidth_gbs = 0;
};

/// Rule for jobs whose GPUs are idle.
struct IdleSettings {
  bool requeues = false;   ///< Requeues jobs that may be requeued after the grace period; else only
                           ///< notifies users.
  Duration after = 30min;  ///< Idle time before a user is notified.
  Duration grace = 10min;  ///< Time between notification and requeue.
  double below = 0.01;     ///< GPUs are idle if they compute for a smaller share of time.
  std::string hook{};      ///< Command for /bin/sh that notifies a user; "" for none.
};

/// The canary: a part of the cluster to try levers on.
struct CanarySettings {
  std::set<std::string> partitions{};  ///< If empty, levers act on all jobs.
  Duration history = 24h * 28;         ///< Length of the past that the expectation is learned from.
  Duration window = 6h;                ///< Waits and failures are averages over this time.
  Duration patience = 1h;  ///< Changes are undone once the limits are exceeded for this time.
  double slack = 1.25;     ///< Factor of the upper limits.
};

struct Settings {
  Grouping virtual_clusters = Grouping::partitions;
  Exempt exempt{};
  std::map<std::string, Switch, std::less<>> levers{};  ///< Levers without an entry are dry.
  double changes_per_s = 400;                           ///< Upper limit of requested changes.
  Duration poll = 1s;                                   ///< Pause between two questions for news.
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

/// Reads them from a TOML file, as docs/guide/slurm_levers.md describes it.
Result<Settings> read_settings(const std::string& path);

}  // namespace almanac::steer
