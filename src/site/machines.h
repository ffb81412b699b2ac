// SPDX-License-Identifier: Apache-2.0

/// \file
/// The machines of a Slurm site: nodes, partitions, switches, reservations and licenses.
///
/// Source   slurm.conf(5), gres.conf(5), topology.conf(5) and scontrol(1) of Slurm 20.11 to 25.11.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "site/config.h"
#include "site/tres.h"
#include "text/duration.h"

namespace almanac::site {

/// Position in Site::nodes: the order of slurm.conf, with host lists expanded.
using NodeIndex = std::uint32_t;

/// Generic resources of one name and type on a node.
struct NodeGres {
  std::string name{};  ///< "gpu", "shard", "mps".
  std::string type{};  ///< "a100"; "" if not typed.
  std::int64_t count = 0;
  /// The sockets that they are bound to; empty if unknown or bound to all.
  std::vector<int> sockets{};
  std::vector<int> cores{};  ///< The cores that gres.conf names (Cores=); empty if none.

  bool operator==(const NodeGres&) const = default;
};

struct NodeState {
  bool down = false;
  bool drain = false;  ///< Running jobs go on; no job starts.
  bool fail = false;
  bool maintenance = false;
  bool reserved = false;
  bool powered_down = false;  ///< A job may start there after a boot.
  bool future = false;        ///< Not yet part of the cluster.
  std::string word{};         ///< As Slurm prints it: "MIXED+DRAIN".
  std::string reason{};
  std::string by{};      ///< The user who set the reason.
  Time since = kNoTime;  ///< When the reason was set.

  /// Whether no job may start on the node now.
  bool is_out() const { return down || drain || fail || future; }

  bool operator==(const NodeState&) const = default;
};

struct Node {
  std::string name{};
  int cpus = 1;            ///< CPUs = cores, or threads where these are counted.
  int effective_cpus = 1;  ///< Without cores set aside (CoreSpecCount, CpuSpecList).
  int boards = 1;
  int sockets = 1;  ///< Of all boards.
  int cores_per_socket = 1;
  int threads_per_core = 1;
  std::int64_t memory_mb = 1;
  std::int64_t reserved_memory_mb = 0;  ///< MemSpecLimit.
  std::int64_t disk_mb = 0;
  std::vector<NodeGres> gres{};
  std::vector<std::string> features{};
  std::vector<std::string> active_features{};
  std::uint32_t weight = 1;
  NodeState state{};
  /// Nodes of the same number are alike for Slurm's node sets: one NodeName line, or equal values.
  std::uint32_t config_record = 0;

  /// Returns the number of `name`, of `type` or (with "") of all types. Cost: O(gres).
  std::int64_t count(std::string_view name, std::string_view type = {}) const;

  bool operator==(const Node&) const = default;
};

/// Whether jobs share what they hold (OverSubscribe).
enum class OverSubscribe : std::uint8_t { no, yes, force, exclusive };

enum class PartitionState : std::uint8_t { up, down, drain, inactive };

struct Partition {
  std::string name{};
  std::vector<NodeIndex> nodes{};  ///< In order.
  bool is_default = false;
  PartitionState state = PartitionState::up;
  int priority_tier = 1;
  int priority_job_factor = 1;
  Duration max_time = text::kUnlimited;
  Duration default_time = kNoDuration;  ///< kNoDuration: jobs without a limit get max_time.
  std::int64_t max_nodes = kNoLimit;
  std::int64_t min_nodes = 0;
  std::int64_t max_cpus_per_node = kNoLimit;
  std::int64_t max_cpus_per_socket = kNoLimit;
  OverSubscribe oversubscribe = OverSubscribe::no;
  int rows = 1;               ///< n of YES:n and FORCE:n; 4 if not given.
  bool least_loaded = false;  ///< LLN.
  bool exclusive_user = false;
  bool exclusive_topology = false;
  bool root_only = false;
  bool requires_reservation = false;
  bool hidden = false;
  std::string qos{};  ///< The partition's QOS; "" for none.
  // Who may use it; empty for all.
  std::vector<std::string> allow_accounts{};
  std::vector<std::string> deny_accounts{};
  std::vector<std::string> allow_qos{};
  std::vector<std::string> deny_qos{};
  std::vector<std::string> allow_groups{};
  TresWeights billing_weights{};  ///< Empty: the CPUs are billed.
  PreemptMode preempt_mode = PreemptMode::cluster;
  Duration grace_time{0};
  Duration over_time_limit = kNoDuration;  ///< kNoDuration: the cluster's.
  JobDefaults job_defaults{};              ///< 0 for what the cluster's say.
  /// SelectTypeParameters of the partition; `none` for the cluster's.
  Consumable consumable = Consumable::none;

  bool operator==(const Partition&) const = default;
};

/// A switch of topology/tree, or a block of topology/block.
struct Switch {
  std::string name{};
  int level = 0;                       ///< 0 = nodes are attached to it.
  std::vector<NodeIndex> nodes{};      ///< Those of all switches below.
  std::vector<std::uint32_t> below{};  ///< Positions in Site::switches.
  std::int32_t parent = -1;            ///< Position in Site::switches; -1 for a root.

  bool operator==(const Switch&) const = default;
};

struct ReservationFlags {
  bool maintenance = false;
  bool overlap = false;
  bool ignore_jobs = false;
  bool flex = false;
  bool magnetic = false;
  bool any_nodes = false;
  bool part_nodes = false;
  bool first_cores = false;
  bool time_float = false;
  bool static_alloc = false;
  bool replace = false;
  bool replace_down = false;
  bool purge = false;  ///< PURGE_COMP.
  Duration purge_after{0};
  Duration repeats{0};  ///< 1 h, 24 h, 7 d; 0 = once. With weekday or weekend, 24 h.
  bool weekday = false;
  bool weekend = false;

  bool operator==(const ReservationFlags&) const = default;
};

struct Reservation {
  std::string name{};
  Time start = kNoTime;
  Time end = kNoTime;
  std::vector<NodeIndex> nodes{};
  std::int64_t cores = 0;  ///< With cores of part of the nodes only.
  std::string partition{};
  std::string features{};
  // Who may use it: a job must match each list that is not empty. "-name" excludes.
  std::vector<std::string> users{};
  std::vector<std::string> accounts{};
  std::vector<std::string> groups{};
  std::vector<std::string> qos{};
  TresCounts tres{};
  std::vector<std::pair<std::string, std::int64_t>> licenses{};
  ReservationFlags flags{};
  Duration max_start_delay{0};

  bool operator==(const Reservation&) const = default;
};

struct License {
  std::string name{};
  std::int64_t total = 0;
  std::int64_t used = 0;  ///< When the file was written.
  std::int64_t reserved = 0;
  bool remote = false;

  bool operator==(const License&) const = default;
};

/// A time during which a node was out of service (sacctmgr show event).
struct NodeEvent {
  NodeIndex node = 0;
  Time start = kNoTime;
  Time end = kNoTime;   ///< kNoTime: not over.
  std::string state{};  ///< "DOWN", "DRAIN".
  std::string reason{};

  bool operator==(const NodeEvent&) const = default;
};

}  // namespace almanac::site
