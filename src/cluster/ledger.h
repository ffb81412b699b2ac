// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tracks free GPUs, cores and memory, and answers "does this fit?".
///
/// A pool holds the nodes of a virtual cluster that are alike. It indexes them by their number of
/// free GPUs, and within that by free cores and memory. "Which is the fullest, lowest-numbered node
/// with n free GPUs and enough cores and memory?" therefore takes a few steps, whatever the number
/// of nodes. Cores and memory of a node that gives no size are unlimited, and cost nothing to
/// track.
///
/// Jobs may hold parts of a GPU. Such a GPU is not free, and the pool indexes what is left of it,
/// so "is there a GPU with this much left?" also takes a few steps. While no job holds a part,
/// tracking parts costs nothing. An instance of a partitioned GPU (slices/board.h) is a part with a
/// place on the GPU. Its size in thousandths is its fraction of the memory slices, the resource
/// that instances run out of first.
///
/// Every change is journaled until commit(). A policy plans on the ledger itself, undo() takes back
/// what-ifs, and a refused plan leaves no trace.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/ids.h"
#include "cluster/amount.h"
#include "cluster/cluster.h"
#include "cluster/node_set.h"
#include "cluster/room_set.h"
#include "cluster/slices/lattice.h"
#include "cluster/topology/layout.h"

namespace almanac::cluster {

/// GPUs of one node, one bit each.
using GpuMask = std::uint64_t;

/// Whether a node can run jobs, and so how much power it draws.
enum class Power : std::uint8_t { on, booting, asleep };

/// One whole GPU, in thousandths.
inline constexpr std::int32_t kWholeGpu = 1000;
/// Share of each of two jobs on one GPU.
inline constexpr std::int32_t kHalfGpu = kWholeGpu / 2;

/// A piece of one node that a job holds.
struct Grant {
  NodeId node{};
  std::int32_t gpu_milli = kWholeGpu;  ///< Part of each of its GPUs.
  GpuMask gpus = 0;
  std::int32_t cpu_milli = 0;
  std::int32_t memory_mb = 0;
  /// Of each of its GPUs if the grant is a part; a whole GPU includes all its memory.
  std::int32_t gpu_memory_mb = 0;
  /// Profile of the instance, if the grant is one.
  slices::ProfileId profile = slices::kNoProfile;
  std::int8_t slice = 0;  ///< First slice of the instance.

  int count() const { return std::popcount(gpus); }
  /// Whether a job that continues with `other` stays where it is.
  bool is_place_of(const Grant& other) const {
    return node == other.node && gpus == other.gpus && profile == other.profile &&
           slice == other.slice;
  }
  Amount amount() const { return {count(), cpu_milli, memory_mb}; }
  bool operator==(const Grant&) const = default;
};

/// What a job needs before it can start: a number of units, each on one node. The unit of a GPU job
/// is a GPU with its cores and memory; the unit of a CPU job is a task. Jobs with equal demands
/// fit, or do not fit, alike.
struct Demand {
  std::int32_t gpus = 0;
  std::int32_t tasks = 0;                       ///< For a CPU job; 0 for a GPU job.
  std::uint64_t gpu_types = ~std::uint64_t{0};  ///< Accepted GPU kinds, as bits of
                                                ///< Cluster::gpu_types().
  std::int32_t cpu_milli = 0;                   ///< Per unit.
  std::int32_t memory_mb = 0;                   ///< Per unit.
  /// GPU job: exact number of nodes, with the same number of GPUs on each. 0 leaves the number to
  /// the placement.
  std::int32_t nodes = 0;
  /// Part of the GPU, for a job with one GPU. For an instance, the smallest part that it is on any
  /// board.
  std::int32_t gpu_milli = kWholeGpu;
  std::int32_t gpu_memory_mb = 0;  ///< Of each GPU.
  /// Profile of the instance requested, if it is smaller than a GPU.
  slices::ProfileId profile = slices::kNoProfile;
  /// GPUs that must share one NVLink domain (Ledger::domain()): a divisor of `gpus`; 0 for any.
  std::int32_t nvlink_gpus = 0;
  /// Quota claim, which may be exhausted even if nodes have room.
  ClaimId claim = kNoClaim;

  /// Whether the job requests a part of one GPU, or one or more instances.
  bool is_part() const { return gpu_milli < kWholeGpu; }
  bool is_cpu_job() const { return gpus == 0; }
  int units() const { return is_cpu_job() ? tasks : gpus; }
  /// Returns what `units` units need.
  Amount of(int units) const {
    return {is_cpu_job() ? 0 : units, cpu_milli * units, memory_mb * units};
  }
  Amount total() const { return of(units()); }
  /// Whether a job with demand `other` fits wherever a job with this demand does.
  bool covers(const Demand& other) const {
    return gpus >= other.gpus && tasks >= other.tasks && is_cpu_job() == other.is_cpu_job() &&
           cpu_milli >= other.cpu_milli && memory_mb >= other.memory_mb &&
           gpu_milli >= other.gpu_milli && gpu_memory_mb >= other.gpu_memory_mb &&
           profile == other.profile && claim == other.claim && nvlink_gpus == other.nvlink_gpus &&
           (gpu_types & ~other.gpu_types) == 0 && lies_as(other);
  }
  bool operator==(const Demand&) const = default;

 private:
  /// Whether every set of nodes that suits this spread also suits that of `other`.
  bool lies_as(const Demand& other) const {
    if (nodes == 0 || other.nodes == 0) return nodes == other.nodes;
    if (nvlink_gpus > 0 && gpus / nodes != other.gpus / other.nodes) return false;
    return nodes >= other.nodes && gpus / nodes >= other.gpus / other.nodes;
  }
};

/// A GPU that jobs hold in part, with something left. Ordered by what is left.
struct OpenGpu {
  std::int32_t free_milli = 0;
  std::uint32_t member = 0;  ///< Position of the node in Pool::nodes.
  int gpu = 0;

  auto operator<=>(const OpenGpu&) const = default;
};

/// The switches of each level are numbered from 1, in order of name; 0 means none.
constexpr std::uint32_t kNoSwitch = 0;

/// Nodes of one virtual cluster that are alike. A node is *ready* if it is on and not drained.
struct Pool {
  int gpus_per_node = 0;
  std::uint64_t gpu_type = 0;           ///< One bit.
  std::int32_t cpu_milli = kUnbounded;  ///< Of each node.
  std::int32_t memory_mb = kUnbounded;  ///< Of each node.
  int sockets = 1;                      ///< Of each node; its GPUs are spread over them.
  /// Distances between the GPUs of a node; null if neither sockets nor connections are known.
  std::shared_ptr<const topology::Layout> layout{};
  std::vector<Connection> connections{};  ///< Between the GPUs of a node.
  const slices::Board* board = nullptr;   ///< Board whose instances the GPUs can be split into, or
                                          ///< null.
  std::int32_t gpu_memory_mb = kUnbounded;  ///< Of each GPU.
  int free_gpus = 0;                        ///< On ready nodes.
  int capacity = 0;                         ///< GPUs on ready nodes.
  std::vector<NodeId> nodes;  ///< In order of number; positions are the members below.
  /// switches[0]: the switch that each node is attached to, or kNoSwitch; switches[1]: the switch
  /// above that one, and so on. Has the number of levels of the deepest node.
  std::vector<std::vector<std::uint32_t>> switches;
  std::vector<NodeSet> by_free;  ///< by_free[n]: ready nodes with exactly n free GPUs.
  std::vector<RoomSet> rooms;    ///< The same nodes; empty if cores and memory are unlimited.
  std::uint64_t with_free = 0;   ///< Bit n - 1 is set if by_free[n] is not empty, for n >= 1.
  std::set<OpenGpu> open;        ///< On ready nodes.

  bool suits(const Demand& demand) const {
    return (gpu_type & demand.gpu_types) != 0 && (gpus_per_node > 0 || demand.is_cpu_job());
  }
  /// Returns the lowest-numbered node with exactly `free` free GPUs and enough cores and memory for
  /// `wanted`, or kNoNode.
  NodeId find(int free, const Amount& wanted) const {
    const auto at = static_cast<std::size_t>(free);
    const std::uint32_t member =
        rooms.empty() ? by_free[at].first() : rooms[at].first({wanted.cpu_milli, wanted.memory_mb});
    return member == NodeSet::kNone ? kNoNode : nodes[member];
  }
  std::uint32_t count(int free) const { return by_free[static_cast<std::size_t>(free)].size(); }
  /// Returns the smallest number of free GPUs, at least `gpus` (>= 1), that any node has; 0 if none
  /// has that many.
  int tightest(int gpus) const {
    if (gpus > kMaxGpusPerNode) return 0;
    const std::uint64_t enough = with_free >> (gpus - 1);
    return enough == 0 ? 0 : gpus + std::countr_zero(enough);
  }
  /// Returns the largest number of free GPUs on any node.
  int most_free() const { return static_cast<int>(std::bit_width(with_free)); }
};

/// The free and taken resources of a cluster. Taking what is taken, or returning what is free,
/// aborts. Not thread-safe. Deterministic: answers depend only on earlier calls.
class Ledger {
 public:
  /// Starts with all GPUs free, after the capacity changes at Time::min().
  explicit Ledger(const Cluster& cluster);

  std::span<const Pool> pools(VcId vc) const;
  /// Returns the number of free GPUs of a node; 0 unless it is ready.
  int free_on(NodeId node) const {
    const NodeState& state = nodes_[index(node)];
    return state.ready() ? std::popcount(state.free) : 0;
  }
  /// Returns the free GPUs of a node; none unless it is ready.
  GpuMask free_mask(NodeId node) const {
    const NodeState& state = nodes_[index(node)];
    return state.ready() ? state.free : 0;
  }
  /// Returns the free resources of a node; none unless it is ready.
  Amount room(NodeId node) const {
    const NodeState& state = nodes_[index(node)];
    if (!state.ready()) return {};
    return {std::popcount(state.free), state.free_cpu_milli, state.free_memory_mb};
  }
  /// Whether any GPU has ever been held in parts. If so, a job that ends may free no whole GPU.
  bool knows_parts() const { return !parts_.empty(); }
  /// Returns the part of a GPU that a job of `demand`, which must be a part, would hold. On a
  /// partitioned GPU this is the instance that keeps the most options open. Returns nothing if it
  /// does not fit, regardless of free cores.
  std::optional<Grant> part_of(NodeId node, int gpu, const Demand& demand) const;
  /// Returns the slices that instances hold on a partitioned GPU.
  slices::Taken taken(NodeId node, int gpu) const;
  /// Returns the largest free part of any partly held GPU of a node; 0 unless the node is ready.
  int open_milli(NodeId node) const;
  /// Returns what is left of a GPU in thousandths, whether or not its node is ready.
  std::int32_t free_milli(NodeId node, int gpu) const {
    if ((nodes_[index(node)].free >> gpu & 1) != 0) return kWholeGpu;
    if (parts_.empty() || parts_[index(node)].free.empty()) return 0;
    return parts_[index(node)].free[static_cast<std::size_t>(gpu)];
  }
  /// Returns the memory that is left of a GPU, in MB, whether or not its node is ready; kUnbounded
  /// if its size is unknown.
  std::int32_t free_gpu_memory_mb(NodeId node, int gpu) const;
  /// A number unique to this ledger; a copy gets another.
  std::uint64_t identity() const { return identity_.number; }
  /// Number of changes to the free resources of a node, including what-ifs and their undo.
  std::uint32_t changes(NodeId node) const { return nodes_[index(node)].changes; }
  std::size_t num_nodes() const { return nodes_.size(); }
  /// Returns the lowest-numbered node of the NVLink domain of a node (NodeClass::nvlink_domain).
  NodeId domain(NodeId node) const { return domains_ ? (*domains_)[index(node)] : node; }
  /// Whether the GPUs that `grants` take of each NVLink domain are whole groups of `nvlink_gpus`;
  /// always if that is 0. O(grants^2).
  bool in_domains(std::span<const Grant> grants, int nvlink_gpus) const;
  const Pool& pool(NodeId node) const { return pools_[nodes_[index(node)].pool]; }
  /// Returns the fullest partly held GPU with enough left for `demand`, which must be a part, on a
  /// node with enough cores and memory. Ties go to the lowest number. Returns a grant without GPUs
  /// if there is none. O(log nodes), plus one step for each such GPU on a node without the room.
  Grant find_part(VcId vc, const Demand& demand) const;
  /// Same on one node, where a free GPU also counts.
  Grant find_part(NodeId node, const Demand& demand) const;
  /// Takes everything that is left of partly held GPUs of a node.
  void take_open(NodeId node);
  /// Whether a job of `demand` may run on a node.
  bool suits(NodeId node, const Demand& demand) const {
    return pools_[nodes_[index(node)].pool].suits(demand);
  }
  /// Returns how many units of `demand` fit on a node, at most 64.
  int units(NodeId node, const Demand& demand) const;
  /// Whether a job can start on a node: the node is on and not drained.
  bool ready(NodeId node) const { return nodes_[index(node)].ready(); }
  bool drained(NodeId node) const { return nodes_[index(node)].drained; }
  Power power(NodeId node) const { return nodes_[index(node)].power; }
  int free_gpus(VcId vc) const;
  /// Returns an upper bound of the GPUs that a job of `demand` can get: free GPUs, plus one GPU for
  /// a job that needs a part (more if it needs several instances) and fits on a partly held one.
  int free_gpus(VcId vc, const Demand& demand) const;
  /// GPUs in service (not drained; asleep counts), plus those still taken on drained nodes.
  int total_gpus() const { return total_; }
  int busy_gpus() const { return busy_; }
  /// GPU capacity taken, in thousandths.
  std::int64_t busy_gpu_milli() const { return std::int64_t{kWholeGpu} * busy_ - open_milli_; }
  /// Cores in thousandths on nodes that give their number: in service, and taken.
  std::int64_t total_cpu_milli() const { return total_cpu_milli_; }
  std::int64_t busy_cpu_milli() const { return busy_cpu_milli_; }
  /// Nodes in service, plus drained nodes that still run a job, in this power state.
  int nodes(Power power) const { return by_power_[static_cast<std::size_t>(power)].nodes; }
  /// GPUs of those nodes, in use or not.
  int gpus(Power power) const { return by_power_[static_cast<std::size_t>(power)].gpus; }
  /// Nodes that run a job.
  int busy_nodes() const { return busy_nodes_; }

  /// Takes `amount` from `node`. Uses as few sockets as possible; of those, the fullest socket with
  /// enough free GPUs; and of its GPUs, the lowest-numbered. O(sockets).
  Grant take(NodeId node, const Amount& amount);
  /// Takes exactly these GPUs, cores and memory.
  void take(const Grant& grant);
  bool can_take(const Grant& grant) const {
    return nodes_[index(grant.node)].ready() && is_free(grant);
  }
  /// Takes resources of a booting node, for a job that starts once the node is on.
  void take_ahead(const Grant& grant);
  /// Gives back a grant. It may be a part of GPUs that were taken whole, or the other way round.
  void give_back(const Grant& grant);
  /// Sets a node to asleep, booting or on. A node that runs a job stays on.
  void set_power(NodeId node, Power power);

  /// Grows or drains a virtual cluster to `count` nodes. Drains the least busy, highest-numbered
  /// nodes; brings back the lowest-numbered ones, which return powered on. Never journaled.
  void set_nodes(VcId vc, int count);
  /// Drains one node, or brings it back. Never journaled.
  void set_drained(NodeId node, bool drained);

  /// Returns a position in the journal for undo().
  std::size_t mark() const { return num_entries_; }
  /// Undoes everything since `mark`, latest first.
  void undo(std::size_t mark);
  /// Makes everything so far final.
  void commit() { num_entries_ = 0; }

 private:
  struct NodeState {
    GpuMask free = 0;
    GpuMask all = 0;
    std::int32_t free_cpu_milli = kUnbounded;
    std::int32_t free_memory_mb = kUnbounded;
    std::int32_t all_cpu_milli = kUnbounded;
    std::int32_t all_memory_mb = kUnbounded;
    std::uint32_t pool = 0;
    std::uint32_t member = 0;  // position in Pool::nodes
    std::uint32_t changes = 0;
    bool drained = false;
    Power power = Power::on;

    bool ready() const { return !drained && power == Power::on; }
    bool busy() const {
      const auto beside =
          static_cast<GpuMask>((free_cpu_milli ^ all_cpu_milli) | (free_memory_mb ^ all_memory_mb));
      return ((free ^ all) | beside) != 0;
    }
    RoomSet::Room room() const { return {free_cpu_milli, free_memory_mb}; }
    /// Whether the node counts in nodes().
    bool counts() const { return !drained || busy(); }
  };
  /// A number that differs between any two ledgers, including a ledger and its copy.
  struct Identity {
    Identity() = default;
    Identity(const Identity&) {}
    Identity& operator=(const Identity&) {
      number = next();
      return *this;
    }
    static std::uint64_t next();
    std::uint64_t number = next();
  };
  /// What is left of the partly held GPUs of a node.
  struct Parts {
    GpuMask open = 0;                       // GPUs with something left
    std::vector<std::int32_t> free{};       // of each GPU; 0 if it is free or fully taken
    std::vector<std::int32_t> memory_mb{};  // of each GPU; undefined if it is free
    std::vector<slices::Taken> taken{};     // of each GPU; empty if GPUs are not partitioned
  };
  struct Entry {
    enum class Move : std::uint8_t { taken, given_back, power };
    Grant grant{};  // for a power change, only the node
    Move move{};
    Power before{};
  };

  void file(const NodeState& state);
  void unfile(const NodeState& state);
  GpuMask choose(const NodeState& state, int gpus) const;
  void move(NodeState& state, const Grant& grant, bool back);
  GpuMask move_parts(const NodeState& state, const Grant& grant, bool back);
  bool is_free(const Grant& grant) const {
    const NodeState& state = nodes_[index(grant.node)];
    return (grant.gpus & ~state.free & ~open_to(grant)) == 0 &&
           grant.cpu_milli <= state.free_cpu_milli && grant.memory_mb <= state.free_memory_mb &&
           (!says_how(grant) || can_be(state, grant));
  }
  /// Whether the grant has a profile or GPU memory, in addition to thousandths.
  static bool says_how(const Grant& grant) {
    return grant.profile != slices::kNoProfile || grant.gpu_memory_mb > 0;
  }
  /// Whether empty GPUs can provide the grant.
  bool can_be(const NodeState& state, const Grant& grant) const;
  /// Whether the grant is currently taken.
  bool is_held(const NodeState& state, const Grant& grant) const;
  /// Returns the partly held GPUs of the node that have enough left for each GPU of `grant`.
  GpuMask open_to(const Grant& grant) const {
    return parts_.empty() || grant.gpu_milli == kWholeGpu ? 0 : open_with(grant);
  }
  GpuMask open_with(const Grant& grant) const;
  void note(const Entry& entry) {
    if (num_entries_ == journal_.size()) journal_.resize(2 * num_entries_ + 64);
    journal_[num_entries_++] = entry;
  }
  void move(NodeState& state, Power power);
  void set_drained(NodeState& state, bool drained);
  void enter(const NodeState& state, int sign);
  void count(const NodeState& state, int sign);

  Identity identity_;
  std::vector<NodeState> nodes_;
  std::vector<Parts> parts_;               // by node; empty until a job holds a part of a GPU
  std::vector<Pool> pools_;                // grouped by virtual cluster
  std::vector<std::uint32_t> first_pool_;  // of each virtual cluster, then one past the last
  std::vector<VirtualCluster> vcs_;
  /// The NVLink domain of each node; null if each node is one.
  std::shared_ptr<const std::vector<NodeId>> domains_;
  std::vector<Entry> journal_;  // the first num_entries_ are in use
  std::size_t num_entries_ = 0;
  int total_ = 0;
  int busy_ = 0;
  std::int64_t open_milli_ = 0;  // capacity left on busy GPUs
  int busy_nodes_ = 0;
  bool has_layouts_ = false;  // whether any node gives the distances of its GPUs
  std::int64_t total_cpu_milli_ = 0;
  std::int64_t busy_cpu_milli_ = 0;
  struct Count {
    int nodes = 0;
    int gpus = 0;
  };
  std::array<Count, 3> by_power_{};
};

}  // namespace almanac::cluster
