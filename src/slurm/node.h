// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes, partitions, reservations and licences as a Slurm controller tells of them.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "slurm/gres.h"

namespace almanac::slurm {

/// A command to power a node up is lost while it powers down.
enum class Power : std::uint8_t { on, to_power_down, powering_down, off, powering_up };

struct Node {
  std::string name{};
  std::string gpu_type{};
  int gpus = 0;
  std::vector<TypedGpus> types{};  ///< Where they are of several, and each is told; else empty.
  int shards = 0;
  int mps = 0;  ///< Of gres/mps.
  double cpus = 0;
  double memory_gb = 0;
  std::vector<std::string> partitions{};
  std::string switches{};  ///< Above it (slurm/switches.h); "" = not told.
  std::string features{};
  std::uint32_t weight = 1;  ///< Of nodes that would do, Slurm takes those that weigh least.
  Power power = Power::on;
  bool drained = false;   ///< DRAIN, DOWN, FAIL, MAINT: nothing may start here.
  bool busy = false;      ///< Some job holds a part of it.
  bool reserved = false;  ///< A reservation that runs has it.
  std::string reason{};

  bool operator==(const Node&) const = default;
};

/// A node whose GPUs are of several types as one for each type, in order, each with all its
/// cores and memory; any other as it is.
std::vector<Node> by_type(const Node& node);

/// Sets Node::types.
void tell_types(const Gres& gres, Node& node);

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

/// How many GPUs some jobs may hold together (GrpTRES=gres/gpu).
struct Quota {
  std::string qos{};  ///< All jobs of it; "" = those of an account.
  std::string account{};
  std::string user{};       ///< "" = of the account and all below it.
  std::string partition{};  ///< Of the user's jobs there, and those only; "" = of all others.
  int gpus = 0;             ///< kAny = no limit; then it keeps them apart from those others.

  static constexpr int kAny = std::numeric_limits<int>::max();

  bool operator==(const Quota&) const = default;
};

/// What an account, or a user of one, is due beside those next to it, and has used: an association
/// of Slurm's fair share.
struct Association {
  std::string account{};
  std::string user{};       ///< "" = the account.
  std::string partition{};  ///< Of the user's jobs there; "" = of all others.
  std::string parent{};     ///< Of an account the one above it; "" = it is the root.
  std::int64_t shares = 0;  ///< kParent = the user has no part of the account's own, but all of it.
  /// GPU seconds, as Slurm forgets them; where the site does not count GPUs what it bills.
  double use = 0;

  static constexpr std::int64_t kParent = -1;

  bool operator==(const Association&) const = default;
};

/// What each user, account and QOS may have, as accounting tells.
struct Limits {
  std::vector<Quota> quotas{};                    ///< Whether or not the site enforces them.
  std::map<std::string, std::string> parents{};   ///< Of each account that has one.
  std::map<std::string, std::string> accounts{};  ///< Of each user's jobs that name none.

  bool operator==(const Limits&) const = default;
};

/// What changes only when an administrator changes it.
struct Site {
  std::string version{};  ///< Of the controller: "22.05.8".
  std::string cluster{};
  std::string controller{};
  std::map<std::string, std::string> parameters{};  ///< Of slurm.conf, as scontrol show config
                                                    ///< spells it: "PriorityType".
  bool federated = false;
  Duration skew = kNoDuration;  ///< Its clock is so much ahead of ours.
  std::uint32_t uid = 0;        ///< Whose rights we have there.
  /// They are enough to change the jobs of others; nothing where this is not told.
  std::optional<bool> is_operator{};
};

}  // namespace almanac::slurm
