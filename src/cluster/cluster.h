// SPDX-License-Identifier: Apache-2.0

/// \file
/// Describes the machines: nodes and their GPUs, the virtual clusters that own them, and how a
/// virtual cluster's size changes over time. What is in use stands in cluster/ledger.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "cluster/connections.h"
#include "cluster/slices/board.h"

namespace almanac::cluster {

/// Most GPUs of one node: a node's GPUs are the bits of one word.
inline constexpr int kMaxGpusPerNode = 64;
/// Most distinct kinds of GPUs of a cluster: those of a demand are the bits of one word.
inline constexpr std::size_t kMaxGpuTypes = 64;

/// The virtual cluster of jobs that name none.
inline constexpr std::string_view kUnnamedVc = "(none)";

/// How several jobs run on one GPU.
enum class Sharing : std::uint8_t {
  parts,  ///< Parts in thousandths, at the speed of which nothing is said here.
  mps,    ///< Parts in thousandths that cap how much of the GPU a job may use (NVIDIA's MPS).
  time,   ///< By turns: parts in thousandths say how many jobs there may be, not how fast they are.
  mig,    ///< Instances of a board (slices/board.h), or all of it by one job.
};

/// "parts", "mps", "time", "mig".
std::string_view to_string(Sharing sharing);

/// Seconds that it takes to make an instance or to remove one, where the cluster file does not say.
inline constexpr double kInstance_s = 1;

/// What nodes of one make have in common.
struct NodeClass {
  int gpus = 8;
  std::string gpu_type{};        ///< "" = not given.
  double cpus = 0;               ///< 0 = not given.
  double memory_gb = 0;          ///< 0 = not given.
  double bandwidth_gbs = 0;      ///< GB/s of memory traffic that all its jobs share; 0 = not given.
  double gpu_power_limit_w = 0;  ///< That each GPU may draw; 0 = as much as its board allows.
  int sockets = 1;  ///< Over which its GPUs are spread evenly, in order of number; at least 1.
  double uplink_gbps = 0;  ///< Gb/s each way that a node sends to others; 0 = not given.
  Sharing sharing = Sharing::parts;
  const slices::Board* board = nullptr;  ///< Where `sharing` is mig: one of slices::boards().
  double gpu_memory_gb = 0;              ///< Of each GPU, as its driver counts; 0 = not given.
  double instance_s = kInstance_s;       ///< Where `sharing` is mig.
  int shards_per_gpu = 0;                ///< Of gres/shard of a Slurm; 0 = not told.
  int mps_per_gpu = 0;                   ///< Of gres/mps; 0 = not told.
  /// Of its GPUs, beside those of sockets; where several sockets are given, none by `socket`.
  std::vector<Connection> connections{};

  bool operator==(const NodeClass&) const = default;
};

struct Node {
  std::string name{};  ///< "" = known by its number within the virtual cluster.
  VcId vc{};
  std::uint32_t node_class = 0;  ///< Position in Cluster::classes.
  /// What it shares a switch with; with the switches above, from the top on: "core/pod1/r2". "" =
  /// not given.
  std::string rack{};
};

/// The switches above a node, the nearest first: "core/pod1/r2", "core/pod1", "core". None = it is
/// not told.
std::vector<std::string> switches_above(const Node& node);

struct VirtualCluster {
  std::string name{};
  NodeId first{};               ///< Its nodes are first ..+ num_nodes.
  std::uint32_t num_nodes = 0;  ///< The most it ever has.
};

/// A switch and its link to the one above.
struct Switch {
  std::string path{};      ///< As in Node::rack: "core/pod1/r2", "core/pod1".
  double uplink_gbps = 0;  ///< Gb/s each way.

  bool operator==(const Switch&) const = default;
};

/// From where jobs read their data sets.
struct Storage {
  double remote_gbs = 0;  ///< GB/s that all jobs together can read of it; 0 = not given.
  double cache_gb = 0;    ///< Of the nodes' disks in all, from which each job reads fast enough.

  bool operator==(const Storage&) const = default;
};

/// From `at` on, the virtual cluster has `nodes` nodes. Nodes it loses are drained: their jobs
/// end in peace, nothing new starts there.
struct CapacityChange {
  Time at{};
  VcId vc{};
  int nodes = 0;
};

/// Cells that a tenant owns (cell_plan.h): so many wherever they are, or a certain one.
struct OwnedCells {
  VcId vc{};               ///< Whose nodes they are of.
  std::string kind{};      ///< "rack", "node", "socket" or "gpu".
  std::string gpu_type{};  ///< Of the nodes; "" = of any.
  int cells = 1;
  std::string pinned{};  ///< The name of the node, or the rack, that it is; "" = wherever.

  bool operator==(const OwnedCells&) const = default;
};

/// A group of users in a tree of them.
struct Tenant {
  std::string name{};
  std::int32_t parent = -1;  ///< Position in Cluster::tenants, before its own; -1 = none.
  double guarantee = 0;      ///< GPUs that it gets back whenever it needs them.
  double limit = kNoLimit;   ///< GPUs that it may hold at most.
  bool may_borrow = true;    ///< Whether it may hold more than its guarantee while they are idle.
  std::vector<OwnedCells> cells{};  ///< What its guarantee is made of; none = that is left open.
  int priority = 0;                 ///< Of its jobs, among all that run in the cells of one tenant.

  static constexpr double kNoLimit = 1e6;
  bool operator==(const Tenant&) const = default;
};

struct Cluster {
  std::vector<NodeClass> classes;
  std::vector<Node> nodes;  ///< Grouped by virtual cluster.
  std::vector<VirtualCluster> vcs;
  std::vector<CapacityChange> changes;  ///< In order of time; Time::min() = from the beginning.
  std::vector<Tenant> tenants;          ///< A parent comes before its children.
  std::vector<Switch> switches{};       ///< Those of which the uplink is given.
  Storage storage{};
  bool takes_every_job = false;    ///< One virtual cluster, whatever a job's own says.
  bool inferred = false;           ///< Guessed from a job log: no proof of what was there.
  bool lower_bound = false;        ///< Inferred from what ran at once: there may be more.
  std::vector<std::string> notes;  ///< What the user should know. One line each.

  /// Adds `count` nodes of class `make` to the virtual cluster added last.
  void add_nodes(const NodeClass& make, std::uint32_t count, std::vector<std::string> names = {},
                 const std::string& rack = {});
  /// Adds an empty virtual cluster; add_nodes() fills it.
  void add_vc(std::string name);

  int gpus(NodeId node) const { return classes[nodes[index(node)].node_class].gpus; }
  int gpus(VcId vc) const;
  int gpus() const;
  /// Whether any node says how many cores it has: else CPU jobs cannot be placed.
  bool counts_cpus() const;
  /// Whether the speed of any link is given.
  bool has_links() const;
  /// The virtual cluster called `name`, or kNoVc.
  VcId find_vc(std::string_view name) const;
  /// The virtual cluster of jobs that name `name`: the one called so, or the one whose partitions
  /// ("all+debug+gpu") are those of `name` ("debug+gpu") and others; else kNoVc.
  VcId find_vc_of_jobs(std::string_view name) const;
  /// The tenant called `name`; kNoTenant = none.
  TenantId find_tenant(std::string_view name) const;
  /// GPUs that suit the same demands.
  struct GpuKind {
    std::string type{};
    Sharing sharing{};
    const slices::Board* board = nullptr;
    double memory_gb = 0;

    bool operator==(const GpuKind&) const = default;
  };
  static GpuKind kind_of(const NodeClass& make) {
    return {make.gpu_type, make.sharing, make.board, make.gpu_memory_gb};
  }
  /// Distinct kinds, in order of first mention; their positions are the bits of a demand.
  std::vector<GpuKind> gpu_kinds() const;
  /// The type of each kind: one that is shared in two ways is there twice.
  std::vector<std::string> gpu_types() const;
  /// "12" (number within its virtual cluster) or the node's name.
  std::string node_label(NodeId node) const;
};

/// Whether a GPU of `type` is one of `wanted`: "v100", or "v100|a100", in either case; "" = any.
bool is_one_of(std::string_view type, std::string_view wanted);

/// The same nodes in one virtual cluster that takes every job; its capacity changes as the sum of
/// the virtual clusters' did. For job logs that name no virtual cluster.
Cluster merged(const Cluster& cluster);

/// `nodes` nodes of `gpus` GPUs, one virtual cluster that takes every job.
Cluster uniform(std::uint32_t nodes, int gpus);

}  // namespace almanac::cluster
