// SPDX-License-Identifier: Apache-2.0

/// \file
/// Keeps track of which GPUs, cores and memory are free, and answers "does this fit?".
///
/// The nodes of a virtual cluster that are alike form a pool, and a pool files its nodes by the
/// number of GPUs that are free, and those by the cores and memory that are. So "is there a node
/// with n free GPUs and room for the rest, and which is the fullest, lowest-numbered one" takes a
/// few steps, whatever the number of nodes. Cores and memory of a node that does not say how much
/// it has are without bound, and cost nothing.
///
/// A GPU may be held in parts. Then it is not free, and the pool files what is left of it: "is
/// there a GPU with so much left" takes a few steps too. While no job holds a part, that costs
/// nothing. An instance of a GPU that is cut (slices/board.h) is a part that has a place on it: so
/// many thousandths as it has of the memory slices, which are what instances are short of.
///
/// Everything is journaled until commit(): a policy plans on the ledger itself, what-ifs are taken
/// back with undo(), and a refused plan leaves no trace.
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

/// Whether a node can run jobs, and what it draws.
enum class Power : std::uint8_t { on, booting, asleep };

/// A GPU, in thousandths.
inline constexpr std::int32_t kWholeGpu = 1000;
/// What each of two jobs on one GPU holds.
inline constexpr std::int32_t kHalfGpu = kWholeGpu / 2;

/// A piece of one node.
struct Grant {
  NodeId node{};
  std::int32_t gpu_milli = kWholeGpu;  ///< The part of each of its GPUs.
  GpuMask gpus = 0;
  std::int32_t cpu_milli = 0;
  std::int32_t memory_mb = 0;
  std::int32_t gpu_memory_mb = 0;  ///< Of each of its GPUs, where it is a part; a whole has it all.
  slices::ProfileId profile = slices::kNoProfile;  ///< It is such an instance.
  std::int8_t slice = 0;                           ///< At which that begins.

  int count() const { return std::popcount(gpus); }
  /// Whether a job stays where it is that goes on with `other`.
  bool is_place_of(const Grant& other) const {
    return node == other.node && gpus == other.gpus && profile == other.profile &&
           slice == other.slice;
  }
  Amount amount() const { return {count(), cpu_milli, memory_mb}; }
  bool operator==(const Grant&) const = default;
};

/// What a job needs before it can start: so many units, each of which lies on one node. The unit of
/// a GPU job is a GPU with the cores and memory that go with it; that of a CPU job is a task. Jobs
/// with equal demands fit or do not fit together.
struct Demand {
  std::int32_t gpus = 0;
  std::int32_t tasks = 0;                       ///< Of a CPU job; 0 for a GPU job.
  std::uint64_t gpu_types = ~std::uint64_t{0};  ///< Bits of Cluster::gpu_types() that will do.
  std::int32_t cpu_milli = 0;                   ///< Of a unit.
  std::int32_t memory_mb = 0;                   ///< Of a unit.
  /// A GPU job's: it lies on exactly so many nodes, with as many of its GPUs on each. 0 = on as
  /// many as the placement likes.
  std::int32_t nodes = 0;
  std::int32_t gpu_milli = kWholeGpu;  ///< Of the GPU, where one is asked; of an instance no less
                                       ///< than this on any board.
  std::int32_t gpu_memory_mb = 0;      ///< Of each GPU.
  slices::ProfileId profile = slices::kNoProfile;  ///< It asks an instance, that is not all of a
                                                   ///< GPU.
  ClaimId claim = kNoClaim;  ///< On quotas, which may have no room where nodes have.

  /// Whether it asks a part of one GPU, or of each of several where it asks instances.
  bool is_part() const { return gpu_milli < kWholeGpu; }
  bool is_cpu_job() const { return gpus == 0; }
  int units() const { return is_cpu_job() ? tasks : gpus; }
  /// What `units` of them need.
  Amount of(int units) const {
    return {is_cpu_job() ? 0 : units, cpu_milli * units, memory_mb * units};
  }
  Amount total() const { return of(units()); }
  /// Whether a job of `other` fits wherever one of this demand does.
  bool covers(const Demand& other) const {
    return gpus >= other.gpus && tasks >= other.tasks && is_cpu_job() == other.is_cpu_job() &&
           cpu_milli >= other.cpu_milli && memory_mb >= other.memory_mb &&
           gpu_milli >= other.gpu_milli && gpu_memory_mb >= other.gpu_memory_mb &&
           profile == other.profile && claim == other.claim &&
           (gpu_types & ~other.gpu_types) == 0 && lies_as(other);
  }
  bool operator==(const Demand&) const = default;

 private:
  /// Whether nodes that suit its spread suit that of `other`.
  bool lies_as(const Demand& other) const {
    if (nodes == 0 || other.nodes == 0) return nodes == other.nodes;
    return nodes >= other.nodes && gpus / nodes >= other.gpus / other.nodes;
  }
};

/// A GPU of which some job holds a part, but not all is held. In order of what is left.
struct OpenGpu {
  std::int32_t free_milli = 0;
  std::uint32_t member = 0;  ///< Position of its node in Pool::nodes.
  int gpu = 0;

  auto operator<=>(const OpenGpu&) const = default;
};

/// The switches of a level are numbered from one on in order of name.
constexpr std::uint32_t kNoSwitch = 0;

/// Nodes of one virtual cluster that are alike. A node is *ready* when it is on and not drained.
struct Pool {
  int gpus_per_node = 0;
  std::uint64_t gpu_type = 0;           ///< One bit.
  std::int32_t cpu_milli = kUnbounded;  ///< Of a node.
  std::int32_t memory_mb = kUnbounded;  ///< Of a node.
  int sockets = 1;                      ///< Of a node, over which its GPUs are spread.
  /// Which GPUs of a node go well together; null where neither sockets nor connections are told.
  std::shared_ptr<const topology::Layout> layout{};
  std::vector<Connection> connections{};    ///< Of the GPUs of a node.
  const slices::Board* board = nullptr;     ///< Its GPUs can be cut in instances.
  std::int32_t gpu_memory_mb = kUnbounded;  ///< Of a GPU.
  int free_gpus = 0;                        ///< On ready nodes.
  int capacity = 0;                         ///< GPUs on ready nodes.
  std::vector<NodeId> nodes;  ///< In order of number; positions are the members below.
  /// switches[0]: of the same nodes the switch that each is plugged into, or kNoSwitch; [1] the one
  /// above that, and so on. As many levels as any node is told.
  std::vector<std::vector<std::uint32_t>> switches;
  std::vector<NodeSet> by_free;  ///< by_free[n]: ready nodes with exactly n free GPUs.
  std::vector<RoomSet> rooms;    ///< Of the same nodes; none if cores and memory are unbounded.
  std::uint64_t with_free = 0;   ///< Bit n - 1: by_free[n] is not empty, for n of 1 or more.
  std::set<OpenGpu> open;        ///< Of ready nodes.

  bool suits(const Demand& demand) const {
    return (gpu_type & demand.gpu_types) != 0 && (gpus_per_node > 0 || demand.is_cpu_job());
  }
  /// The lowest-numbered node with exactly `free` free GPUs and room for the cores and memory of
  /// `wanted`; kNoNode = there is none.
  NodeId find(int free, const Amount& wanted) const {
    const auto at = static_cast<std::size_t>(free);
    const std::uint32_t member =
        rooms.empty() ? by_free[at].first() : rooms[at].first({wanted.cpu_milli, wanted.memory_mb});
    return member == NodeSet::kNone ? kNoNode : nodes[member];
  }
  std::uint32_t count(int free) const { return by_free[static_cast<std::size_t>(free)].size(); }
  /// The fewest free GPUs, `gpus` (1 or more) or more, that any node has; 0 = none has as many.
  int tightest(int gpus) const {
    if (gpus > kMaxGpusPerNode) return 0;
    const std::uint64_t enough = with_free >> (gpus - 1);
    return enough == 0 ? 0 : gpus + std::countr_zero(enough);
  }
  /// The most free GPUs that any node has.
  int most_free() const { return static_cast<int>(std::bit_width(with_free)); }
};

/// Invariant: a GPU, a core, a GB is free or taken; taking what is taken or giving back what is
/// free aborts. Not thread-safe. Deterministic: answers depend only on the calls made so far.
class Ledger {
 public:
  /// All GPUs free; the capacity changes at Time::min() applied.
  explicit Ledger(const Cluster& cluster);

  std::span<const Pool> pools(VcId vc) const;
  /// Free GPUs of a node; none unless it is ready.
  int free_on(NodeId node) const {
    const NodeState& state = nodes_[index(node)];
    return state.ready() ? std::popcount(state.free) : 0;
  }
  /// Which they are.
  GpuMask free_mask(NodeId node) const {
    const NodeState& state = nodes_[index(node)];
    return state.ready() ? state.free : 0;
  }
  /// What is free of a node; nothing unless it is ready.
  Amount room(NodeId node) const {
    const NodeState& state = nodes_[index(node)];
    if (!state.ready()) return {};
    return {std::popcount(state.free), state.free_cpu_milli, state.free_memory_mb};
  }
  /// Whether any GPU has been held in parts: what a job gives back may free none then.
  bool knows_parts() const { return !parts_.empty(); }
  /// The part of one GPU that a job of `demand`, a part, would hold: of a GPU that is cut the
  /// instance where it keeps most options. Nothing = it does not fit, whatever cores are free.
  std::optional<Grant> part_of(NodeId node, int gpu, const Demand& demand) const;
  /// What instances hold of a GPU that is cut.
  slices::Taken taken(NodeId node, int gpu) const;
  /// The most that is left of a GPU of which some job holds a part; nothing unless it is ready.
  int open_milli(NodeId node) const;
  /// What is left of one GPU, in thousandths; ready or not.
  std::int32_t free_milli(NodeId node, int gpu) const {
    if ((nodes_[index(node)].free >> gpu & 1) != 0) return kWholeGpu;
    if (parts_.empty() || parts_[index(node)].free.empty()) return 0;
    return parts_[index(node)].free[static_cast<std::size_t>(gpu)];
  }
  /// Another number for each ledger, and for what a ledger is a copy of.
  std::uint64_t identity() const { return identity_.number; }
  /// How often what is free of a node has changed; what-ifs, and taking them back, count.
  std::uint32_t changes(NodeId node) const { return nodes_[index(node)].changes; }
  std::size_t num_nodes() const { return nodes_.size(); }
  const Pool& pool(NodeId node) const { return pools_[nodes_[index(node)].pool]; }
  /// The fullest GPU of those that some job holds a part of, with as much left as `demand`, a part,
  /// asks, on a node with room for the rest; ties to the lowest number. No GPU = there is none.
  /// O(log nodes), and a step for each such GPU on a node without the room.
  Grant find_part(VcId vc, const Demand& demand) const;
  /// The same on one node, where a free GPU does too.
  Grant find_part(NodeId node, const Demand& demand) const;
  /// Takes all that is left of the GPUs of a node of which some job holds a part.
  void take_open(NodeId node);
  /// Whether a job of `demand` may run on a node.
  bool suits(NodeId node, const Demand& demand) const {
    return pools_[nodes_[index(node)].pool].suits(demand);
  }
  /// How many units of `demand` fit on a node. At most 64.
  int units(NodeId node, const Demand& demand) const;
  /// Whether a job can start on a node: it is on and not drained.
  bool ready(NodeId node) const { return nodes_[index(node)].ready(); }
  bool drained(NodeId node) const { return nodes_[index(node)].drained; }
  Power power(NodeId node) const { return nodes_[index(node)].power; }
  int free_gpus(VcId vc) const;
  /// On how many GPUs a job of `demand` could be at most: those that are free, and one that is open
  /// to a part, or several times if it asks several instances.
  int free_gpus(VcId vc, const Demand& demand) const;
  /// GPUs in service (not drained, asleep or not) and those still taken on drained nodes.
  int total_gpus() const { return total_; }
  int busy_gpus() const { return busy_; }
  /// What is taken of them, in thousandths.
  std::int64_t busy_gpu_milli() const { return std::int64_t{kWholeGpu} * busy_ - open_milli_; }
  /// The same of cores, in thousandths: in service on nodes that say how many they have; taken.
  std::int64_t total_cpu_milli() const { return total_cpu_milli_; }
  std::int64_t busy_cpu_milli() const { return busy_cpu_milli_; }
  /// Nodes in service, and drained ones that still run a job; by power.
  int nodes(Power power) const { return by_power_[static_cast<std::size_t>(power)].nodes; }
  /// GPUs of those nodes, in use or not.
  int gpus(Power power) const { return by_power_[static_cast<std::size_t>(power)].gpus; }
  /// Nodes that run a job.
  int busy_nodes() const { return busy_nodes_; }

  /// Takes `amount` of `node`: GPUs of as few of its sockets as can be, of the fullest that has as
  /// many free; among those the lowest-numbered. O(sockets).
  Grant take(NodeId node, const Amount& amount);
  /// Takes exactly these GPUs, and the cores and memory.
  void take(const Grant& grant);
  bool can_take(const Grant& grant) const {
    return nodes_[index(grant.node)].ready() && is_free(grant);
  }
  /// Takes it of a node that boots, for a job that begins once it is on.
  void take_ahead(const Grant& grant);
  /// Also a part of GPUs that were taken whole, or the other way round.
  void give_back(const Grant& grant);
  /// A node falls asleep, boots, or is there again. What runs a job stays awake.
  void set_power(NodeId node, Power power);

  /// Grows or drains a virtual cluster to `count` nodes: drains the least busy, highest-numbered
  /// ones and brings back the lowest-numbered ones, which come back on. Never journaled.
  void set_nodes(VcId vc, int count);
  /// Drains one node, or brings it back. Never journaled.
  void set_drained(NodeId node, bool drained);

  /// A point of the journal to go back to.
  std::size_t mark() const { return num_entries_; }
  /// Takes back everything since `mark`, latest first.
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
    /// Whether it counts in nodes().
    bool counts() const { return !drained || busy(); }
  };
  /// Tells a ledger from every other, also from its copy.
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
  /// What is left of the GPUs of a node of which some job holds a part.
  struct Parts {
    GpuMask open = 0;                       // those of which anything is
    std::vector<std::int32_t> free{};       // of each GPU; 0 of those that are free or taken
    std::vector<std::int32_t> memory_mb{};  // of each; says nothing of those that are free
    std::vector<slices::Taken> taken{};     // the same; none where GPUs are not cut
  };
  struct Entry {
    enum class Move : std::uint8_t { taken, given_back, power };
    Grant grant{};  // of a move of power: only its node
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
  /// Whether more is asked of a part than thousandths.
  static bool says_how(const Grant& grant) {
    return grant.profile != slices::kNoProfile || grant.gpu_memory_mb > 0;
  }
  /// Whether GPUs that are empty have that.
  bool can_be(const NodeState& state, const Grant& grant) const;
  /// Whether it is taken.
  bool is_held(const NodeState& state, const Grant& grant) const;
  /// GPUs of its node that are open, and have as much left as `grant` is of each.
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
  std::vector<Parts> parts_;               // of each node; none until a GPU is held in parts
  std::vector<Pool> pools_;                // grouped by virtual cluster
  std::vector<std::uint32_t> first_pool_;  // of each virtual cluster, and one past the last
  std::vector<VirtualCluster> vcs_;
  std::vector<Entry> journal_;  // the first num_entries_ of it
  std::size_t num_entries_ = 0;
  int total_ = 0;
  int busy_ = 0;
  std::int64_t open_milli_ = 0;  // that is left of busy GPUs
  int busy_nodes_ = 0;
  bool has_layouts_ = false;  // of any node it is told which GPUs lie together
  std::int64_t total_cpu_milli_ = 0;
  std::int64_t busy_cpu_milli_ = 0;
  struct Count {
    int nodes = 0;
    int gpus = 0;
  };
  std::array<Count, 3> by_power_{};
};

}  // namespace almanac::cluster
