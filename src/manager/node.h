// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes, partitions, reservations and licenses as a workload manager reports them.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "text/gres.h"

namespace almanac::manager {

/// A command to power a node up is lost while it powers down.
enum class Power : std::uint8_t { on, to_power_down, powering_down, off, powering_up };

struct Node {
  std::string name{};
  std::string gpu_type{};
  int gpus = 0;
  std::vector<text::TypedGpus> types{};  ///< By type, if there are several and all are known;
                                         ///< otherwise empty.
  int shards = 0;
  int mps = 0;  ///< gres/mps.
  double cpus = 0;
  double memory_gb = 0;
  std::vector<std::string> partitions{};
  std::string switches{};  ///< Switches above it, from the top on: "core/pod1/s2"; "" if unknown.
  std::string features{};
  std::uint32_t weight = 1;  ///< Of suitable nodes, the manager takes those with the lowest weight.
  Power power = Power::on;
  bool drained = false;   ///< Also down, failed or in maintenance: nothing may start here.
  bool busy = false;      ///< Some job holds a part of it.
  bool reserved = false;  ///< Whether an active reservation includes it.
  std::string reason{};

  bool operator==(const Node&) const = default;
};

/// A node whose GPUs are of several types as one for each type, in order, each with all its
/// cores and memory; any other as it is.
std::vector<Node> by_type(const Node& node);

/// Sets Node::types.
void tell_types(const text::Gres& gres, Node& node);

struct Partition {
  std::string name{};
  std::vector<std::string> nodes{};
  bool up = true;
  bool is_default = false;
  int priority_tier = 1;
  Duration max_time = kNoDuration;
  std::string oversubscribe{};

  bool operator==(const Partition&) const = default;
};

struct Reservation {
  std::string name{};
  std::vector<std::string> nodes{};
  Time start{};
  Time end = kNoTime;
  std::string users{};
  std::string accounts{};

  bool operator==(const Reservation&) const = default;
};

struct Licence {
  std::string name{};
  int total = 0;
  int used = 0;

  bool operator==(const Licence&) const = default;
};

/// How many GPUs some jobs may hold together.
struct Quota {
  std::string qos{};  ///< All jobs of this QOS; "" for jobs of an account.
  std::string account{};
  std::string user{};  ///< "" for the account and all accounts below it.
  /// Only the user's jobs in this partition; "" for all others.
  std::string partition{};
  /// kAny: no limit, but separates these jobs from the others.
  int gpus = 0;

  static constexpr int kAny = std::numeric_limits<int>::max();

  bool operator==(const Quota&) const = default;
};

/// An association of the manager's fair share: the shares of an account, or of a user, relative to
/// its siblings, and its usage.
struct Association {
  std::string account{};
  std::string user{};       ///< "" for the account.
  std::string partition{};  ///< For the user's jobs there; "" for all others.
  std::string parent{};     ///< Account above an account; "" for the root.
  /// kParent: the user has no share of its own, but that of the account.
  std::int64_t shares = 0;
  /// GPU-seconds with the manager's decay; if the site does not count GPUs, what it bills.
  double use = 0;

  static constexpr std::int64_t kParent = -1;

  bool operator==(const Association&) const = default;
};

/// Priority of a QOS.
struct QosPriority {
  std::string qos{};
  std::uint32_t priority = 0;

  bool operator==(const QosPriority&) const = default;
};

/// Limits of users, accounts and QOS in accounting.
struct Limits {
  std::vector<Quota> quotas{};                   ///< Whether or not the site enforces them.
  std::map<std::string, std::string> parents{};  ///< Parent of each account that has one.
  /// Default account of each user.
  std::map<std::string, std::string> accounts{};
  std::vector<QosPriority> qos_priorities{};  ///< Of each QOS that has one above 0.

  bool operator==(const Limits&) const = default;
};

}  // namespace almanac::manager
