// SPDX-License-Identifier: Apache-2.0
#include "cluster/ledger.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

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

void file(Pool& pool, std::uint32_t member, int free) {
  pool.by_free[static_cast<std::size_t>(free)].insert(member);
  pool.with_free |= bit_of(free);
}

void unfile(Pool& pool, std::uint32_t member, int free) {
  NodeSet& set = pool.by_free[static_cast<std::size_t>(free)];
  set.erase(member);
  pool.with_free &= ~(set.empty() ? bit_of(free) : 0);
}

}  // namespace

Ledger::Ledger(const Cluster& cluster) : nodes_(cluster.nodes.size()), vcs_(cluster.vcs) {
  const std::vector<std::string> types = cluster.gpu_types();
  ALMANAC_CHECK(types.size() <= kMaxGpuTypes, "{} GPU types", types.size());
  for (const VirtualCluster& vc : cluster.vcs) {
    const auto first = static_cast<std::uint32_t>(pools_.size());
    first_pool_.push_back(first);
    for (std::uint32_t offset = 0; offset < vc.num_nodes; ++offset) {
      const NodeId id{static_cast<std::uint32_t>(index(vc.first)) + offset};
      const NodeClass& make = cluster.classes[cluster.nodes[index(id)].node_class];
      const auto type = std::find(types.begin(), types.end(), make.gpu_type) - types.begin();
      const std::uint64_t type_bit = std::uint64_t{1} << type;
      auto pool = std::find_if(pools_.begin() + first, pools_.end(), [&](const Pool& known) {
        return known.gpus_per_node == make.gpus && known.gpu_type == type_bit;
      });
      if (pool == pools_.end()) {
        pool = pools_.insert(pools_.end(), Pool{});
        pool->gpus_per_node = make.gpus;
        pool->gpu_type = type_bit;
      }
      nodes_[index(id)] = {.free = all_gpus(make.gpus),
                           .all = all_gpus(make.gpus),
                           .pool = static_cast<std::uint32_t>(pool - pools_.begin()),
                           .member = static_cast<std::uint32_t>(pool->nodes.size())};
      pool->nodes.push_back(id);
    }
  }
  first_pool_.push_back(static_cast<std::uint32_t>(pools_.size()));
  for (Pool& pool : pools_) {
    const auto members = static_cast<std::uint32_t>(pool.nodes.size());
    pool.by_free.assign(static_cast<std::size_t>(pool.gpus_per_node) + 1, NodeSet(members));
    for (std::uint32_t member = 0; member < members; ++member) {
      file(pool, member, pool.gpus_per_node);
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

inline void Ledger::move(NodeState& state, GpuMask free) {
  const int before = std::popcount(state.free);
  const int after = std::popcount(free);
  const int became_busy = static_cast<int>(free != state.all) - static_cast<int>(state.busy());
  state.free = free;
  busy_ += before - after;
  busy_nodes_ += became_busy;
  if (state.drained) {
    total_ += before - after;
    if (became_busy != 0) count(state, became_busy);
    return;
  }
  Pool& pool = pools_[state.pool];
  unfile(pool, state.member, before);
  file(pool, state.member, after);
  pool.free_gpus += after - before;
}

Grant Ledger::take(NodeId node, int count) {
  const Grant grant{node, lowest_bits(nodes_[index(node)].free, count)};
  ALMANAC_CHECK(grant.count() == count, "node {}: {} of {} GPUs", index(node), count,
                free_on(node));
  take(grant);
  return grant;
}

void Ledger::take(const Grant& grant) {
  ALMANAC_CHECK(can_take(grant), "node {} mask {:x}", index(grant.node), grant.gpus);
  NodeState& state = nodes_[index(grant.node)];
  move(state, state.free & ~grant.gpus);
  note({.grant = grant, .move = Entry::Move::taken});
}

void Ledger::give_back(const Grant& grant) {
  NodeState& state = nodes_[index(grant.node)];
  ALMANAC_CHECK((grant.gpus & state.free) == 0 && (grant.gpus & ~state.all) == 0,
                "node {} mask {:x}", index(grant.node), grant.gpus);
  move(state, state.free | grant.gpus);
  note({.grant = grant, .move = Entry::Move::given_back});
}

void Ledger::set_power(NodeId node, Power power) {
  NodeState& state = nodes_[index(node)];
  ALMANAC_CHECK(!state.busy() && !state.drained, "node {} runs a job or is drained", index(node));
  note({.grant = {node, 0}, .move = Entry::Move::power, .before = state.power});
  move(state, power);
}

void Ledger::undo(std::size_t mark) {
  while (num_entries_ > mark) {
    const Entry& entry = journal_[--num_entries_];
    NodeState& state = nodes_[index(entry.grant.node)];
    switch (entry.move) {
      case Entry::Move::taken:
        move(state, state.free | entry.grant.gpus);
        break;
      case Entry::Move::given_back:
        move(state, state.free & ~entry.grant.gpus);
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
  sign > 0 ? file(pool, state.member, free) : unfile(pool, state.member, free);
  pool.free_gpus += sign * free;
  pool.capacity += sign * pool.gpus_per_node;
}

void Ledger::count(const NodeState& state, int sign) {
  Count& count = by_power_[static_cast<std::size_t>(state.power)];
  count.nodes += sign;
  count.gpus += sign * std::popcount(state.all);
}

void Ledger::move(NodeState& state, Power power) {
  const bool was_ready = state.ready();
  if (state.counts()) count(state, -1);
  state.power = power;
  if (state.counts()) count(state, +1);
  if (state.ready() != was_ready) enter(state, was_ready ? -1 : +1);
}

void Ledger::set_drained(NodeState& state, bool drained) {
  // It leaves with its power: what becomes of it elsewhere is not ours to know.
  if (drained) move(state, Power::on);
  if (state.counts()) count(state, -1);
  state.drained = drained;
  if (state.counts()) count(state, +1);
  enter(state, drained ? -1 : +1);
  total_ += (drained ? -1 : 1) * std::popcount(state.free);
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
