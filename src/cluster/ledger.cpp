// SPDX-License-Identifier: Apache-2.0
#include "cluster/ledger.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <string>

#include "base/check.h"
#include "cluster/nvlink_domains.h"

namespace almanac::cluster {
namespace {

GpuMask lowest_bits(GpuMask free, int count) {
  if (std::popcount(free) == count) return free;
  GpuMask rest = free;
  for (int taken = 0; taken < count; ++taken) rest &= rest - 1;
  return free ^ rest;
}

GpuMask all_gpus(int count) {
  return count == kMaxGpusPerNode ? ~GpuMask{0} : (GpuMask{1} << count) - 1;
}

/// The bit of Pool::with_free; none for no free GPU. Without a branch: which it is cannot be
/// guessed.
GpuMask bit_of(int free) { return static_cast<GpuMask>(free > 0) << ((free - 1) & 63); }

void file_by_gpus(Pool& pool, std::uint32_t member, int free) {
  pool.by_free[static_cast<std::size_t>(free)].insert(member);
  pool.with_free |= bit_of(free);
}

void unfile_by_gpus(Pool& pool, std::uint32_t member, int free) {
  NodeSet& set = pool.by_free[static_cast<std::size_t>(free)];
  set.erase(member);
  pool.with_free &= ~(set.empty() ? bit_of(free) : 0);
}

/// The numbers of the switches of each level, by name.
std::vector<std::map<std::string, std::uint32_t>> number_switches(const Cluster& cluster) {
  std::vector<std::map<std::string, std::uint32_t>> levels;
  for (const Node& node : cluster.nodes) {
    const std::vector<std::string> above = switches_above(node);
    if (levels.size() < above.size()) levels.resize(above.size());
    for (std::size_t level = 0; level < above.size(); ++level)
      levels[level].try_emplace(above[level]);
  }
  for (auto& level : levels) {
    std::uint32_t number = kNoSwitch;
    for (auto& [name, its] : level) its = ++number;
  }
  return levels;
}

/// What an instance holds of a GPU, in thousandths.
std::int32_t milli_of(const slices::Board& board, int profile) {
  return kWholeGpu * board[profile].memory / board.memory;
}

std::int32_t bound_of(double given, std::int32_t amount) { return given > 0 ? amount : kUnbounded; }

}  // namespace

std::uint64_t Ledger::Identity::next() {
  static std::atomic<std::uint64_t> made{0};
  return ++made;
}

Ledger::Ledger(const Cluster& cluster) : nodes_(cluster.nodes.size()), vcs_(cluster.vcs) {
  const std::vector<Cluster::GpuKind> kinds = cluster.gpu_kinds();
  ALMANAC_CHECK(kinds.size() <= kMaxGpuTypes, "{} kinds of GPUs", kinds.size());
  if (std::vector<NodeId> domains = nvlink_domains(cluster); !domains.empty()) {
    domains_ = std::make_shared<const std::vector<NodeId>>(std::move(domains));
  }
  const auto levels = number_switches(cluster);
  for (const VirtualCluster& vc : cluster.vcs) {
    const auto first = static_cast<std::uint32_t>(pools_.size());
    first_pool_.push_back(first);
    for (std::uint32_t offset = 0; offset < vc.num_nodes; ++offset) {
      const NodeId id{static_cast<std::uint32_t>(index(vc.first)) + offset};
      const NodeClass& make = cluster.classes[cluster.nodes[index(id)].node_class];
      const auto kind = std::find(kinds.begin(), kinds.end(), Cluster::kind_of(make));
      const std::uint64_t type_bit = std::uint64_t{1} << (kind - kinds.begin());
      const std::int32_t cpus = bound_of(make.cpus, cluster::cpu_milli(make.cpus));
      const std::int32_t memory = bound_of(make.memory_gb, cluster::memory_mb(make.memory_gb));
      auto pool = std::find_if(pools_.begin() + first, pools_.end(), [&](const Pool& known) {
        return known.gpus_per_node == make.gpus && known.gpu_type == type_bit &&
               known.cpu_milli == cpus && known.memory_mb == memory &&
               known.sockets == make.sockets && known.connections == make.connections;
      });
      if (pool == pools_.end()) {
        pool = pools_.insert(pools_.end(), Pool{});
        pool->gpus_per_node = make.gpus;
        pool->gpu_type = type_bit;
        pool->cpu_milli = cpus;
        pool->memory_mb = memory;
        pool->sockets = make.sockets;
        pool->board = make.board;
        pool->gpu_memory_mb = bound_of(make.gpu_memory_gb, cluster::memory_mb(make.gpu_memory_gb));
        pool->switches.resize(levels.size());
        if (make.sockets > 1 || !make.connections.empty()) {
          pool->connections = make.connections;
          pool->layout = std::make_shared<topology::Layout>(distances(make));
          has_layouts_ = true;
        }
      }
      nodes_[index(id)] = {.free = all_gpus(make.gpus),
                           .all = all_gpus(make.gpus),
                           .free_cpu_milli = cpus,
                           .free_memory_mb = memory,
                           .all_cpu_milli = cpus,
                           .all_memory_mb = memory,
                           .pool = static_cast<std::uint32_t>(pool - pools_.begin()),
                           .member = static_cast<std::uint32_t>(pool->nodes.size())};
      pool->nodes.push_back(id);
      if (levels.empty()) continue;
      const std::vector<std::string> above = switches_above(cluster.nodes[index(id)]);
      for (std::size_t level = 0; level < levels.size(); ++level) {
        pool->switches[level].push_back(level < above.size() ? levels[level].at(above[level])
                                                             : kNoSwitch);
      }
    }
  }
  first_pool_.push_back(static_cast<std::uint32_t>(pools_.size()));
  for (Pool& pool : pools_) {
    const auto members = static_cast<std::uint32_t>(pool.nodes.size());
    const auto classes = static_cast<std::size_t>(pool.gpus_per_node) + 1;
    pool.by_free.assign(classes, NodeSet(members));
    if (pool.cpu_milli != kUnbounded || pool.memory_mb != kUnbounded) {
      pool.rooms.assign(classes, RoomSet(members));
    }
    for (const NodeId node : pool.nodes) file(nodes_[index(node)]);
    if (pool.cpu_milli != kUnbounded) {
      total_cpu_milli_ += std::int64_t{pool.cpu_milli} * static_cast<std::int64_t>(members);
    }
    pool.capacity = pool.free_gpus = static_cast<int>(members) * pool.gpus_per_node;
    total_ += pool.capacity;
    by_power_[0].nodes += static_cast<int>(members);
    by_power_[0].gpus += pool.capacity;
  }
  for (const CapacityChange& change : cluster.changes) {
    if (change.at == Time::min()) set_nodes(change.vc, change.nodes);
  }
}

std::span<const Pool> Ledger::pools(VcId vc) const {
  const std::uint32_t first = first_pool_[index(vc)];
  return {pools_.data() + first, first_pool_[index(vc) + 1] - first};
}

int Ledger::free_gpus(VcId vc) const {
  int free = 0;
  for (const Pool& pool : pools(vc)) free += pool.free_gpus;
  return free;
}

int Ledger::free_gpus(VcId vc, const Demand& demand) const {
  const std::span<const Pool> own = pools(vc);
  const bool open = demand.is_part() && std::any_of(own.begin(), own.end(), [](const Pool& pool) {
                      return !pool.open.empty();
                    });
  if (!open) return free_gpus(vc);
  return free_gpus(vc) + (demand.profile == slices::kNoProfile ? 1 : demand.gpus);
}

int Ledger::open_milli(NodeId node) const {
  if (parts_.empty() || !nodes_[index(node)].ready()) return 0;
  const std::vector<std::int32_t>& free = parts_[index(node)].free;
  return free.empty() ? 0 : *std::max_element(free.begin(), free.end());
}

GpuMask Ledger::open_with(const Grant& grant) const {
  const Parts& parts = parts_[index(grant.node)];
  GpuMask with = 0;
  for (GpuMask rest = parts.open & grant.gpus; rest != 0; rest &= rest - 1) {
    const auto gpu = static_cast<std::size_t>(std::countr_zero(rest));
    if (parts.free[gpu] < grant.gpu_milli || parts.memory_mb[gpu] < grant.gpu_memory_mb) continue;
    if (grant.profile != slices::kNoProfile) {
      const slices::Board& board = *pool(grant.node).board;
      const slices::Profile& asked = board[slices::position(board, grant.profile)];
      if (!slices::fits(asked, grant.slice, parts.taken[gpu])) continue;
    }
    with |= GpuMask{1} << gpu;
  }
  return with;
}

bool Ledger::can_be(const NodeState& state, const Grant& grant) const {
  const Pool& own = pools_[state.pool];
  if (grant.profile == slices::kNoProfile) return grant.gpu_memory_mb <= own.gpu_memory_mb;
  const int profile = own.board == nullptr ? -1 : slices::position(*own.board, grant.profile);
  return profile >= 0 && (*own.board)[profile].may_start(grant.slice) && grant.count() == 1 &&
         grant.gpu_milli == milli_of(*own.board, profile) && grant.gpu_memory_mb == 0;
}

bool Ledger::is_held(const NodeState& state, const Grant& grant) const {
  if (!can_be(state, grant) || parts_.empty()) return false;
  const Pool& own = pools_[state.pool];
  const Parts& parts = parts_[index(grant.node)];
  if (parts.free.empty()) return false;
  if (grant.profile != slices::kNoProfile) {
    const slices::Profile& profile = (*own.board)[slices::position(*own.board, grant.profile)];
    const slices::SliceMask mask = profile.mask(grant.slice);
    return (taken(grant.node, std::countr_zero(grant.gpus)).slices & mask) == mask;
  }
  for (GpuMask rest = grant.gpus; rest != 0; rest &= rest - 1) {
    const std::int32_t left = parts.memory_mb[static_cast<std::size_t>(std::countr_zero(rest))];
    if (left > own.gpu_memory_mb - grant.gpu_memory_mb) return false;
  }
  return true;
}

slices::Taken Ledger::taken(NodeId node, int gpu) const {
  if ((nodes_[index(node)].free >> gpu & 1) != 0 || parts_.empty()) return {};
  const std::vector<slices::Taken>& taken = parts_[index(node)].taken;
  return taken.empty() ? slices::Taken{} : taken[static_cast<std::size_t>(gpu)];
}

std::int32_t Ledger::free_gpu_memory_mb(NodeId node, int gpu) const {
  if ((nodes_[index(node)].free >> gpu & 1) != 0) return pool(node).gpu_memory_mb;
  const bool is_open = free_milli(node, gpu) > 0;
  return is_open ? parts_[index(node)].memory_mb[static_cast<std::size_t>(gpu)] : 0;
}

std::optional<Grant> Ledger::part_of(NodeId node, int gpu, const Demand& demand) const {
  const Pool& own = pool(node);
  Grant made{.node = node,
             .gpu_milli = demand.gpu_milli,
             .gpus = GpuMask{1} << gpu,
             .cpu_milli = demand.cpu_milli,
             .memory_mb = demand.memory_mb,
             .gpu_memory_mb = demand.gpu_memory_mb};
  if (free_milli(node, gpu) == 0) return std::nullopt;
  if (demand.profile != slices::kNoProfile) {
    const int profile = own.board == nullptr ? -1 : slices::position(*own.board, demand.profile);
    if (profile < 0) return std::nullopt;
    const int start = slices::best_start(*own.board, profile, taken(node, gpu));
    if (start < 0) return std::nullopt;
    made.gpu_milli = milli_of(*own.board, profile);
    made.gpu_memory_mb = 0;
    made.profile = demand.profile;
    made.slice = static_cast<std::int8_t>(start);
    return made;
  }
  const bool has_memory = free_gpu_memory_mb(node, gpu) >= demand.gpu_memory_mb;
  if (free_milli(node, gpu) < demand.gpu_milli || !has_memory) return std::nullopt;
  return made;
}

Grant Ledger::find_part(VcId vc, const Demand& demand) const {
  Grant best{
      .gpu_milli = demand.gpu_milli, .cpu_milli = demand.cpu_milli, .memory_mb = demand.memory_mb};
  std::int32_t least = kWholeGpu;
  for (const Pool& pool : pools(vc)) {
    if (!pool.suits(demand)) continue;
    for (auto at = pool.open.lower_bound({.free_milli = demand.gpu_milli});
         at != pool.open.end() && at->free_milli <= least; ++at) {
      const NodeId node = pool.nodes[at->member];
      const bool tighter = at->free_milli < least || node < best.node;
      if (!tighter || !room(node).covers({0, demand.cpu_milli, demand.memory_mb})) continue;
      const std::optional<Grant> found = part_of(node, at->gpu, demand);
      if (!found) continue;
      least = at->free_milli;
      best = *found;
      break;
    }
  }
  return best;
}

Grant Ledger::find_part(NodeId node, const Demand& demand) const {
  Grant best{.node = node,
             .gpu_milli = demand.gpu_milli,
             .cpu_milli = demand.cpu_milli,
             .memory_mb = demand.memory_mb};
  const Amount here = room(node);
  if (!here.covers({0, demand.cpu_milli, demand.memory_mb})) return best;
  std::int32_t least = kWholeGpu;
  for (GpuMask rest = parts_.empty() ? 0 : parts_[index(node)].open; rest != 0; rest &= rest - 1) {
    const int gpu = std::countr_zero(rest);
    const std::int32_t left = free_milli(node, gpu);
    if (left < demand.gpu_milli || left >= least) continue;
    const std::optional<Grant> found = part_of(node, gpu, demand);
    if (!found) continue;
    least = left;
    best = *found;
  }
  if (best.gpus != 0 || here.gpus == 0) return best;
  return part_of(node, std::countr_zero(free_mask(node)), demand).value_or(best);
}

void Ledger::take_open(NodeId node) {
  if (open_milli(node) == 0) return;
  const Parts& parts = parts_[index(node)];
  for (GpuMask rest = parts.open; rest != 0; rest &= rest - 1) {
    const auto gpu = static_cast<std::size_t>(std::countr_zero(rest));
    take({.node = node, .gpu_milli = parts.free[gpu], .gpus = GpuMask{1} << gpu});
  }
}

bool Ledger::in_domains(std::span<const Grant> grants, int nvlink_gpus) const {
  if (nvlink_gpus == 0) return true;
  return std::all_of(grants.begin(), grants.end(), [&](const Grant& one) {
    int gpus = 0;
    for (const Grant& other : grants) {
      if (domain(other.node) == domain(one.node)) gpus += other.count();
    }
    return gpus % nvlink_gpus == 0;
  });
}

int Ledger::units(NodeId node, const Demand& demand) const {
  const Amount free = room(node);
  int units = demand.is_cpu_job() ? 64 : free.gpus;
  if (units == 0 && demand.is_part() && find_part(node, demand).gpus != 0) units = 1;
  if (demand.cpu_milli > 0) units = std::min(units, free.cpu_milli / demand.cpu_milli);
  if (demand.memory_mb > 0) units = std::min(units, free.memory_mb / demand.memory_mb);
  return units;
}

inline void Ledger::file(const NodeState& state) {
  Pool& pool = pools_[state.pool];
  const int free = std::popcount(state.free);
  file_by_gpus(pool, state.member, free);
  if (!pool.rooms.empty()) {
    pool.rooms[static_cast<std::size_t>(free)].insert(state.member, state.room());
  }
}

inline void Ledger::unfile(const NodeState& state) {
  Pool& pool = pools_[state.pool];
  const int free = std::popcount(state.free);
  unfile_by_gpus(pool, state.member, free);
  if (!pool.rooms.empty()) pool.rooms[static_cast<std::size_t>(free)].erase(state.member);
}

/// Moves slices of a GPU that is divided into instances and partly held by a job.
void move_slices(const slices::Board& board, const Grant& grant, bool back, slices::Taken& taken) {
  if (grant.profile == slices::kNoProfile) {
    // Jobs that request whole GPUs share this one, so no instance may be created on it.
    if (taken.slices == 0) taken.slices = (slices::SliceMask{1} << board.memory) - 1;
    return;
  }
  const slices::Profile& profile = board[slices::position(board, grant.profile)];
  taken.slices ^= profile.mask(grant.slice);
  if (profile.media) taken.media = !back;
}

/// Moves a part of GPUs; gives those that become free by it, or were.
GpuMask Ledger::move_parts(const NodeState& state, const Grant& grant, bool back) {
  if (parts_.empty()) parts_.resize(nodes_.size());
  Parts& parts = parts_[index(grant.node)];
  Pool& pool = pools_[state.pool];
  if (parts.free.empty()) {
    const auto gpus = static_cast<std::size_t>(pool.gpus_per_node);
    parts.free.resize(gpus);
    parts.memory_mb.resize(gpus, pool.gpu_memory_mb);
    if (pool.board != nullptr) parts.taken.resize(gpus);
  }
  std::set<OpenGpu>& filed = pool.open;
  const std::int32_t more = back ? grant.gpu_milli : -grant.gpu_milli;
  GpuMask flipped = 0;
  for (GpuMask rest = grant.gpus; rest != 0; rest &= rest - 1) {
    const int gpu = std::countr_zero(rest);
    const GpuMask bit = GpuMask{1} << gpu;
    std::int32_t& left = parts.free[static_cast<std::size_t>(gpu)];
    const std::int32_t before = (state.free & bit) != 0 ? kWholeGpu : left;
    const std::int32_t after = before + more;
    const bool frees = after == kWholeGpu;
    if (frees || before == kWholeGpu) flipped |= bit;
    if (left > 0 && state.ready()) filed.erase({left, state.member, gpu});
    open_milli_ -= left;
    left = frees ? 0 : after;
    open_milli_ += left;
    if (left > 0 && state.ready()) filed.insert({left, state.member, gpu});
    if (before == kWholeGpu) parts.memory_mb[static_cast<std::size_t>(gpu)] = pool.gpu_memory_mb;
    parts.memory_mb[static_cast<std::size_t>(gpu)] +=
        back ? grant.gpu_memory_mb : -grant.gpu_memory_mb;
    if (pool.board != nullptr) {
      slices::Taken& taken = parts.taken[static_cast<std::size_t>(gpu)];
      if (before == kWholeGpu) taken = {};
      move_slices(*pool.board, grant, back, taken);
    }
    parts.open = left > 0 ? parts.open | bit : parts.open & ~bit;
  }
  return flipped;
}

inline void Ledger::move(NodeState& state, const Grant& grant, bool back) {
  const int sign = back ? +1 : -1;
  ++state.changes;
  const int before = std::popcount(state.free);
  const int was_busy = static_cast<int>(state.busy());
  state.free ^= grant.gpu_milli == kWholeGpu ? grant.gpus : move_parts(state, grant, back);
  state.free_cpu_milli += sign * grant.cpu_milli;
  state.free_memory_mb += sign * grant.memory_mb;
  const int after = std::popcount(state.free);
  const int became_busy = static_cast<int>(state.busy()) - was_busy;
  busy_ += before - after;
  busy_nodes_ += became_busy;
  busy_cpu_milli_ -= sign * grant.cpu_milli;
  if (state.drained) {
    total_ += before - after;
    if (state.all_cpu_milli != kUnbounded) total_cpu_milli_ -= sign * grant.cpu_milli;
    if (became_busy != 0) count(state, became_busy);
    return;
  }
  if (!state.ready()) return;
  Pool& pool = pools_[state.pool];
  if (before != after) {
    unfile_by_gpus(pool, state.member, before);
    file_by_gpus(pool, state.member, after);
    pool.free_gpus += after - before;
  }
  if (pool.rooms.empty()) return;
  if (before != after) pool.rooms[static_cast<std::size_t>(before)].erase(state.member);
  pool.rooms[static_cast<std::size_t>(after)].insert(state.member, state.room());
}

GpuMask Ledger::choose(const NodeState& state, int gpus) const {
  const Pool& pool = pools_[state.pool];
  if (!pool.connections.empty() && gpus > 0 && gpus <= std::popcount(state.free)) {
    return pool.layout->choose(state.free, gpus).gpus;
  }
  const int size = pool.gpus_per_node / pool.sockets;
  GpuMask chosen = 0;
  while (gpus > 0) {
    // The fullest socket with enough; else all of the emptiest.
    GpuMask best = 0;
    for (int socket = 0; socket < pool.sockets; ++socket) {
      const GpuMask free = state.free & ~chosen & (all_gpus(size) << (socket * size));
      const int had = std::popcount(best);
      const int has = std::popcount(free);
      const bool better = had < gpus ? has > had : has >= gpus && has < had;
      if (better) best = free;
    }
    if (best == 0) break;
    const GpuMask taken = lowest_bits(best, std::min(gpus, std::popcount(best)));
    chosen |= taken;
    gpus -= std::popcount(taken);
  }
  return chosen;
}

Grant Ledger::take(NodeId node, const Amount& amount) {
  const NodeState& state = nodes_[index(node)];
  const Grant grant{
      .node = node,
      .gpus = has_layouts_ ? choose(state, amount.gpus) : lowest_bits(state.free, amount.gpus),
      .cpu_milli = amount.cpu_milli,
      .memory_mb = amount.memory_mb};
  ALMANAC_CHECK(grant.count() == amount.gpus, "node {}: {} of {} GPUs", index(node), amount.gpus,
                free_on(node));
  take(grant);
  return grant;
}

void Ledger::take(const Grant& grant) {
  ALMANAC_CHECK(can_take(grant), "node {} mask {:x} ({}/1000), {} cores/1000, {} MB",
                index(grant.node), grant.gpus, grant.gpu_milli, grant.cpu_milli, grant.memory_mb);
  move(nodes_[index(grant.node)], grant, false);
  note({.grant = grant, .move = Entry::Move::taken});
}

void Ledger::take_ahead(const Grant& grant) {
  NodeState& state = nodes_[index(grant.node)];
  ALMANAC_CHECK(state.power == Power::booting && is_free(grant),
                "node {} mask {:x} ({}/1000), {} cores/1000, {} MB", index(grant.node), grant.gpus,
                grant.gpu_milli, grant.cpu_milli, grant.memory_mb);
  move(state, grant, false);
  note({.grant = grant, .move = Entry::Move::taken});
}

void Ledger::give_back(const Grant& grant) {
  NodeState& state = nodes_[index(grant.node)];
  ALMANAC_CHECK(!says_how(grant) || is_held(state, grant),
                "node {} mask {:x} has no {} at slice {}, or no {} MB of memory, taken",
                index(grant.node), grant.gpus, slices::profile_name(grant.profile), grant.slice,
                grant.gpu_memory_mb);
  // GPUs that have so much left that not as much can have been taken.
  const Grant kept{
      .node = grant.node, .gpu_milli = kWholeGpu + 1 - grant.gpu_milli, .gpus = grant.gpus};
  const bool was_taken =
      (grant.gpus & (state.free | (parts_.empty() ? 0 : open_with(kept)))) == 0 &&
      (grant.gpus & ~state.all) == 0 &&
      grant.cpu_milli <= state.all_cpu_milli - state.free_cpu_milli &&
      grant.memory_mb <= state.all_memory_mb - state.free_memory_mb;
  ALMANAC_CHECK(was_taken, "node {} mask {:x} ({}/1000), {} cores/1000, {} MB", index(grant.node),
                grant.gpus, grant.gpu_milli, grant.cpu_milli, grant.memory_mb);
  move(state, grant, true);
  note({.grant = grant, .move = Entry::Move::given_back});
}

void Ledger::set_power(NodeId node, Power power) {
  NodeState& state = nodes_[index(node)];
  const bool stays_awake = state.power == Power::booting && power == Power::on;
  ALMANAC_CHECK((!state.busy() || stays_awake) && !state.drained,
                "node {} runs a job or is drained", index(node));
  note({.grant = {.node = node}, .move = Entry::Move::power, .before = state.power});
  move(state, power);
}

void Ledger::undo(std::size_t mark) {
  while (num_entries_ > mark) {
    const Entry& entry = journal_[--num_entries_];
    NodeState& state = nodes_[index(entry.grant.node)];
    switch (entry.move) {
      case Entry::Move::taken:
        move(state, entry.grant, true);
        break;
      case Entry::Move::given_back:
        move(state, entry.grant, false);
        break;
      case Entry::Move::power:
        move(state, entry.before);
        break;
    }
  }
}

/// Files a node that becomes ready in its pool; with sign -1, takes one out that is no more.
void Ledger::enter(const NodeState& state, int sign) {
  Pool& pool = pools_[state.pool];
  const int free = std::popcount(state.free);
  sign > 0 ? file(state) : unfile(state);
  pool.free_gpus += sign * free;
  pool.capacity += sign * pool.gpus_per_node;
  if (parts_.empty()) return;
  const Parts& parts = parts_[static_cast<std::size_t>(&state - nodes_.data())];
  for (GpuMask rest = parts.open; rest != 0; rest &= rest - 1) {
    const int gpu = std::countr_zero(rest);
    const OpenGpu open{parts.free[static_cast<std::size_t>(gpu)], state.member, gpu};
    sign > 0 ? static_cast<void>(pool.open.insert(open)) : static_cast<void>(pool.open.erase(open));
  }
}

void Ledger::count(const NodeState& state, int sign) {
  Count& count = by_power_[static_cast<std::size_t>(state.power)];
  count.nodes += sign;
  count.gpus += sign * std::popcount(state.all);
}

void Ledger::move(NodeState& state, Power power) {
  const bool was_ready = state.ready();
  ++state.changes;
  if (state.counts()) count(state, -1);
  state.power = power;
  if (state.counts()) count(state, +1);
  if (state.ready() != was_ready) enter(state, was_ready ? -1 : +1);
}

void Ledger::set_drained(NodeState& state, bool drained) {
  // A drained node counts as powered on; its real power state is not known here.
  if (drained) move(state, Power::on);
  if (state.counts()) count(state, -1);
  ++state.changes;
  state.drained = drained;
  if (state.counts()) count(state, +1);
  enter(state, drained ? -1 : +1);
  const int sign = drained ? -1 : +1;
  total_ += sign * std::popcount(state.free);
  if (state.all_cpu_milli != kUnbounded) total_cpu_milli_ += sign * state.free_cpu_milli;
}

void Ledger::set_drained(NodeId node, bool drained) {
  ALMANAC_CHECK(num_entries_ == 0, "{} moves of a plan in flight", num_entries_);
  NodeState& state = nodes_[index(node)];
  if (state.drained != drained) set_drained(state, drained);
}

void Ledger::set_nodes(VcId vc, int count) {
  ALMANAC_CHECK(num_entries_ == 0, "{} moves of a plan in flight", num_entries_);
  const VirtualCluster& owner = vcs_[index(vc)];
  const auto first = nodes_.begin() + static_cast<std::ptrdiff_t>(index(owner.first));
  const auto last = first + owner.num_nodes;
  int active = static_cast<int>(
      std::count_if(first, last, [](const NodeState& state) { return !state.drained; }));
  for (auto node = first; active < count && node != last; ++node) {
    if (!node->drained) continue;
    set_drained(*node, false);
    ++active;
  }
  for (; active > count; --active) {
    auto victim = last;
    int least = kMaxGpusPerNode + 1;
    for (auto node = first; node != last; ++node) {
      const int busy = std::popcount(node->all & ~node->free);
      if (!node->drained && busy <= least) {
        least = busy;
        victim = node;
      }
    }
    set_drained(*victim, true);
  }
}

}  // namespace almanac::cluster
