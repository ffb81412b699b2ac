// SPDX-License-Identifier: Apache-2.0

/// \file
/// Describes the machines: nodes and their GPUs, the virtual clusters that own them, and how the
/// size of a virtual cluster changes over time. cluster/ledger.h tracks what is in use.
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

/// The largest number of GPUs in one node: one word has a bit for each.
inline constexpr int kMaxGpusPerNode = 64;
/// The largest number of GPU kinds in a cluster: a demand's kinds are the bits of one word.
inline constexpr std::size_t kMaxGpuTypes = 64;

/// The virtual cluster of jobs that name none.
inline constexpr std::string_view kUnnamedVc = "(none)";

/// How several jobs run on one GPU.
enum class Sharing : std::uint8_t {
  parts,  ///< Parts in thousandths; their speed is not modelled here.
  mps,    ///< Parts in thousandths, each a cap on the use of the GPU (NVIDIA MPS).
  time,   ///< Time slicing: parts in thousandths limit how many jobs share a GPU, not their speed.
  mig,    ///< MIG instances of a board (slices/board.h), or the whole board for one job.
};

/// "parts", "mps", "time", "mig".
std::string_view to_string(Sharing sharing);

/// Default time to create or remove an instance, in seconds.
inline constexpr double kInstance_s = 1;

/// The nodes whose GPUs NVLink connects with each other.
enum class NvlinkDomain : std::uint8_t {
  node,  ///< Each node is a domain: an HGX board.
  rack,  ///< All nodes of one Node::rack are: GB200 NVL72.
};

/// Properties shared by all nodes of one model.
struct NodeClass {
  int gpus = 8;
  std::string gpu_type{};    ///< "" if not given.
  double cpus = 0;           ///< 0 if not given.
  double memory_gb = 0;      ///< 0 if not given.
  double bandwidth_gbs = 0;  ///< Memory bandwidth shared by all jobs of a node, in GB/s; 0 if not
                             ///< given.
  double gpu_power_limit_w = 0;  ///< Power cap of each GPU; 0 for the limit of the board.
  int sockets = 1;  ///< The GPUs are spread over them evenly, in order of number; at least 1.
  double uplink_gbps = 0;  ///< Outgoing bandwidth of a node, in Gb/s each way; 0 if not given.
  Sharing sharing = Sharing::parts;
  const slices::Board* board = nullptr;  ///< For mig: one of slices::boards().
  double gpu_memory_gb = 0;              ///< Of each GPU, as its driver reports it; 0 if not given.
  double instance_s = kInstance_s;       ///< For mig.
  int shards_per_gpu = 0;                ///< Slurm's gres/shard; 0 if unknown.
  int mps_per_gpu = 0;                   ///< Slurm's gres/mps; 0 if unknown.
  NvlinkDomain nvlink_domain = NvlinkDomain::node;
  /// Connections between GPUs, in addition to the sockets. With several sockets, none is by
  /// `socket`.
  std::vector<Connection> connections{};

  bool operator==(const NodeClass&) const = default;
};

struct Node {
  std::string name{};  ///< "" if only its number within the virtual cluster is known.
  VcId vc{};
  std::uint32_t node_class = 0;  ///< Position in Cluster::classes.
  /// The switch that the node is attached to, after all switches above it: "core/pod1/r2". "" if
  /// not given.
  std::string rack{};
};

/// Returns the switches above a node, the nearest first: "core/pod1/r2", "core/pod1", "core". Empty
/// if the node gives no rack.
std::vector<std::string> switches_above(const Node& node);

struct VirtualCluster {
  std::string name{};
  NodeId first{};               ///< Its nodes are numbered first .. first + num_nodes - 1.
  std::uint32_t num_nodes = 0;  ///< The largest number it ever has.
  int priority_tier = 0;        ///< Of its jobs.
};

/// A switch and its link to the switch above.
struct Switch {
  std::string path{};      ///< As in Node::rack: "core/pod1/r2", "core/pod1".
  double uplink_gbps = 0;  ///< Gb/s each way.

  bool operator==(const Switch&) const = default;
};

/// The storage that jobs read their data sets from.
struct Storage {
  double remote_gbs = 0;  ///< GB/s for all jobs together; 0 if not given.
  /// Disk cache of all nodes together. A job reads from it fast enough.
  double cache_gb = 0;

  bool operator==(const Storage&) const = default;
};

/// From `at` on, the virtual cluster has `nodes` nodes. Nodes that it loses are drained: their jobs
/// run to their end, and no job starts there.
struct CapacityChange {
  Time at{};
  VcId vc{};
  int nodes = 0;
};

/// Cells that a tenant owns (cell_plan.h): a number of them anywhere, or one particular cell.
struct OwnedCells {
  VcId vc{};               ///< The virtual cluster of the nodes.
  std::string kind{};      ///< "rack", "node", "socket" or "gpu".
  std::string gpu_type{};  ///< Of the nodes; "" for any.
  int cells = 1;
  std::string pinned{};  ///< Name of the node or rack; "" for any.

  bool operator==(const OwnedCells&) const = default;
};

/// A group of users in the tenant tree.
struct Tenant {
  std::string name{};
  std::int32_t parent = -1;         ///< Position in Cluster::tenants, before its own; -1 for none.
  double guarantee = 0;             ///< GPUs that the tenant gets back whenever it needs them.
  double limit = kNoLimit;          ///< The most GPUs that the tenant may hold.
  bool may_borrow = true;           ///< Whether the tenant may use idle GPUs beyond its guarantee.
  std::vector<OwnedCells> cells{};  ///< Cells of which the guarantee consists; empty for
                                    ///< any GPUs.
  int priority = 0;                 ///< Of its jobs, among all jobs in the cells of one tenant.
  int priority_tier = 0;            ///< Of its jobs, among all jobs; 0 = that of its parent.

  static constexpr double kNoLimit = 1e6;
  bool operator==(const Tenant&) const = default;
};

/// A class of jobs that users choose at submission (Slurm's QOS).
struct Qos {
  std::string name{};
  int priority_tier = 0;             ///< Of its jobs.
  std::vector<std::string> users{};  ///< Users who may choose it; empty = all.

  bool operator==(const Qos&) const = default;
};

/// The lowest and highest priority tier is this far from 0.
inline constexpr int kMostTier = 1'000'000;

struct Cluster {
  std::vector<NodeClass> classes;
  std::vector<Node> nodes;  ///< Grouped by virtual cluster.
  std::vector<VirtualCluster> vcs;
  std::vector<CapacityChange> changes;  ///< In order of time; Time::min() is the start.
  std::vector<Tenant> tenants;          ///< A parent comes before its children.
  std::vector<Qos> qos{};
  std::vector<Switch> switches{};  ///< The switches with a given uplink.
  Storage storage{};
  bool takes_every_job = false;  ///< One virtual cluster, which ignores the virtual cluster that a
                                 ///< job names.
  bool inferred = false;  ///< Guessed from a job log, so it proves nothing about the real cluster.
  bool lower_bound = false;        ///< Inferred from the most in use at once; there may be more.
  std::vector<std::string> notes;  ///< What the user must know, one line each.

  /// Adds `count` nodes of class `make` to the last virtual cluster.
  void add_nodes(const NodeClass& make, std::uint32_t count, std::vector<std::string> names = {},
                 const std::string& rack = {});
  /// Adds an empty virtual cluster; add_nodes() fills it.
  void add_vc(std::string name);

  int gpus(NodeId node) const { return classes[nodes[index(node)].node_class].gpus; }
  int gpus(VcId vc) const;
  int gpus() const;
  /// Whether any node gives its number of cores. If none does, CPU jobs cannot be placed.
  bool counts_cpus() const;
  /// Whether the speed of any link is known.
  bool has_links() const;
  /// Returns the virtual cluster called `name`, or kNoVc.
  VcId find_vc(std::string_view name) const;
  /// Returns the virtual cluster for jobs that name `name`: the one of that name, or one whose
  /// partitions ("all+debug+gpu") include those of `name` ("debug+gpu"). kNoVc if there is none.
  VcId find_vc_of_jobs(std::string_view name) const;
  /// Returns the tenant called `name`, or kNoTenant.
  TenantId find_tenant(std::string_view name) const;
  /// Returns the QOS called `name`; null = not declared.
  const Qos* find_qos(std::string_view name) const;
  /// Whether a QOS, tenant or virtual cluster has a priority tier.
  bool has_tiers() const;
  /// Returns the priority tier of jobs: that of their QOS, else of their tenant or the nearest one
  /// above it, else of their virtual cluster; 0 = none of them has one.
  int tier(std::string_view qos_name, TenantId tenant, VcId vc) const;
  /// GPUs that satisfy the same demands.
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
  /// Returns the distinct kinds in order of first mention; their positions are the bits of a
  /// demand.
  std::vector<GpuKind> gpu_kinds() const;
  /// Returns the type of each kind. A type that is shared in two ways appears twice.
  std::vector<std::string> gpu_types() const;
  /// Returns "12" (number within its virtual cluster) or the node's name.
  std::string node_label(NodeId node) const;
};

/// Whether a GPU of `type` matches `wanted`, such as "v100" or "v100|a100", ignoring case. ""
/// matches any.
bool is_one_of(std::string_view type, std::string_view wanted);

/// Returns the same nodes as one virtual cluster that takes every job. Its capacity is the sum over
/// the virtual clusters at any time. For job logs that name no virtual cluster.
Cluster merged(const Cluster& cluster);

/// Returns `nodes` nodes of `gpus` GPUs each, in one virtual cluster that takes every job.
Cluster uniform(std::uint32_t nodes, int gpus);

}  // namespace almanac::cluster
