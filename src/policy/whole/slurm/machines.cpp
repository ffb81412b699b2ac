// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/slurm/machines.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/check.h"

namespace almanac::policy::whole {
namespace {

using slurmctld::NodeAt;
using slurmctld::Share;

constexpr int kMilli = 1000;

/// Takes GPUs, or parts of them, of one node.
std::optional<std::vector<cluster::Grant>> take_parts(cluster::Ledger& ledger, NodeId node,
                                                      const cluster::Demand& demand, int pieces) {
  std::vector<cluster::Grant> grants;
  for (int piece = 0; piece < pieces; ++piece) {
    const cluster::Grant part = ledger.find_part(node, demand);
    if (part.gpus == 0) return std::nullopt;
    ledger.take(part);
    grants.push_back(part);
  }
  return grants;
}

}  // namespace

Machines::Machines(const cluster::Cluster& cluster, const site::Site& site,
                   const slurmctld::NodeTable& table, bool is_plain)
    : is_plain_(is_plain),
      pieces_(site.nodes.size()),
      hidden_(site.nodes.size()),
      seen_(site.nodes.size(), ~std::uint32_t{0}) {
  std::unordered_map<std::string_view, NodeAt> by_name;
  for (NodeAt at = 0; at < site.nodes.size(); ++at) by_name.emplace(site.nodes[at].name, at);
  for (std::uint32_t at = 0; at < cluster.nodes.size(); ++at) {
    const cluster::Node& node = cluster.nodes[at];
    const auto named = by_name.find(node.name);
    ALMANAC_CHECK(is_plain || named != by_name.end(), "the site has no node {}", node.name);
    const NodeAt own = is_plain ? at : named->second;
    const std::string& type = cluster.classes[node.node_class].gpu_type;
    const auto number = is_plain ? std::optional<slurmctld::TypeId>(0) : table.find_gpu_type(type);
    pieces_[own].push_back({NodeId{at}, number.value_or(slurmctld::kAnyGpu), node.vc});
    site_nodes_.push_back(own);
  }
}

std::vector<cluster::Grant> Machines::take(cluster::Ledger& ledger, const cluster::Demand& demand,
                                           const slurmctld::Allocation& allocation) const {
  const std::size_t before = ledger.mark();
  std::vector<cluster::Grant> grants;
  int gpus_left = demand.gpus;
  for (const Share& share : allocation.shares) {
    const auto taken = is_plain_ ? take_units(ledger, demand, share)
                                 : take_share(ledger, demand, share, allocation.whole, gpus_left);
    if (!taken) return ledger.undo(before), std::vector<cluster::Grant>{};
    for (const cluster::Grant& each : *taken) gpus_left -= each.count();
    grants.insert(grants.end(), taken->begin(), taken->end());
  }
  if (gpus_left > 0) return ledger.undo(before), std::vector<cluster::Grant>{};
  return grants;
}

std::optional<std::vector<cluster::Grant>> Machines::take_units(cluster::Ledger& ledger,
                                                                const cluster::Demand& demand,
                                                                const Share& share) const {
  const NodeId node = pieces_[share.node].front().node;
  if (demand.is_part()) return take_parts(ledger, node, demand, share.num_gpus());
  const int units =
      demand.is_cpu_job() ? share.cpus / std::max(1, demand.cpu_milli) : share.num_gpus();
  const cluster::Amount amount = demand.of(std::max(1, units));
  if (!ledger.ready(node) || !ledger.room(node).covers(amount)) return std::nullopt;
  return std::vector{ledger.take(node, amount)};
}

std::optional<std::vector<cluster::Grant>> Machines::take_share(cluster::Ledger& ledger,
                                                                const cluster::Demand& demand,
                                                                const Share& share, bool whole,
                                                                int most_gpus) const {
  std::vector<cluster::Grant> grants;
  int cpu_milli = share.cpus * kMilli;
  int memory_mb = share.memory_mb;
  std::vector<slurmctld::GpuCount> left = share.gpus;
  for (const Piece& piece : pieces_[share.node]) {
    if (!ledger.ready(piece.node)) return std::nullopt;
    int gpus = whole ? std::min(ledger.free_on(piece.node), most_gpus) : 0;
    for (slurmctld::GpuCount& each : left) {
      if (each.type != piece.type && each.type != slurmctld::kAnyGpu) continue;
      const int more = std::min({each.count, ledger.free_on(piece.node) - gpus, most_gpus - gpus});
      gpus += std::max(0, more);
      each.count -= std::max(0, more);
    }
    most_gpus -= gpus;
    if (demand.is_part()) {
      const auto parts = take_parts(ledger, piece.node, demand, share.num_gpus());
      if (parts) return parts;
      continue;
    }
    const cluster::Amount room = ledger.room(piece.node);
    const auto within = [](int wanted, int free) {
      return free == cluster::kUnbounded ? 0 : std::min(wanted, free);
    };
    const cluster::Amount amount{gpus, within(cpu_milli, room.cpu_milli),
                                 within(memory_mb, room.memory_mb)};
    const bool is_needed = gpus > 0 || (demand.is_cpu_job() && grants.empty());
    if (!is_needed && amount.cpu_milli == 0 && amount.memory_mb == 0) continue;
    grants.push_back(ledger.take(piece.node, amount));
    cpu_milli -= amount.cpu_milli;
    memory_mb -= amount.memory_mb;
  }
  if (demand.is_part()) return std::nullopt;
  return grants;
}

slurmctld::Allocation Machines::allocation_of(std::span<const cluster::Grant> grants,
                                              slurmctld::PartitionAt partition) const {
  slurmctld::Allocation allocation{.partition = partition};
  for (const cluster::Grant& grant : grants) {
    const NodeAt node = site_nodes_[index(grant.node)];
    if (allocation.shares.empty() || allocation.shares.back().node != node) {
      allocation.shares.push_back({.node = node});
    }
    Share& share = allocation.shares.back();
    share.memory_mb += grant.memory_mb;
    if (is_plain_) {
      share.cpus += std::max(grant.cpu_milli, grant.count());
    } else {
      share.cpus += std::max((grant.cpu_milli + kMilli - 1) / kMilli, std::min(1, grant.count()));
    }
    if (grant.count() == 0) continue;
    const auto piece = std::find_if(pieces_[node].begin(), pieces_[node].end(),
                                    [&](const Piece& each) { return each.node == grant.node; });
    share.gpus.push_back({piece->type, grant.count()});
  }
  std::sort(allocation.shares.begin(), allocation.shares.end(),
            [](const Share& one, const Share& other) { return one.node < other.node; });
  return allocation;
}

void Machines::hide_what_others_hold(const cluster::Ledger& ledger, slurmctld::State& state) {
  for (NodeAt node = 0; node < pieces_.size(); ++node) {
    std::uint32_t changes = 0;
    for (const Piece& piece : pieces_[node]) changes += ledger.changes(piece.node);
    if (seen_[node] == changes) continue;
    seen_[node] = changes;
    if (!is_ready(node, ledger)) continue;
    std::optional<Share>& hidden = hidden_[node];
    if (hidden) {
      state.vacate(*hidden);
      hidden.reset();
    }
    Share more{.node = node};
    for (const Piece& piece : pieces_[node]) {
      const int gpus = state.room.free_gpus(node, piece.type) - ledger.room(piece.node).gpus;
      if (gpus > 0) more.gpus.push_back({piece.type, gpus});
    }
    if (is_plain_) {
      const cluster::Amount room = ledger.room(pieces_[node].front().node);
      if (room.cpu_milli < cluster::kUnbounded) {
        more.cpus = std::max(0, state.room.free_cpus(node) - room.cpu_milli);
      }
      if (room.memory_mb < cluster::kUnbounded) {
        more.memory_mb = std::max(0, state.room.free_memory_mb(node) - room.memory_mb);
      }
    }
    if (more.gpus.empty() && more.cpus == 0 && more.memory_mb == 0) continue;
    state.occupy(more);
    hidden = std::move(more);
  }
}

bool Machines::is_ready(NodeAt node, const cluster::Ledger& ledger) const {
  return !pieces_[node].empty() &&
         std::all_of(pieces_[node].begin(), pieces_[node].end(),
                     [&](const Piece& piece) { return ledger.ready(piece.node); });
}

int Machines::free_gpus(NodeAt node, const cluster::Demand& demand, const cluster::Ledger& ledger,
                        const slurmctld::Room& room) const {
  int free = 0;
  for (const Piece& piece : pieces_[node]) {
    if (!ledger.suits(piece.node, demand)) continue;
    free += std::min(ledger.free_on(piece.node), room.free_gpus(node, piece.type));
  }
  return free;
}

bool Machines::is_in(NodeAt node, VcId vc) const {
  return !pieces_[node].empty() && pieces_[node].front().vc == vc;
}

std::vector<NodeId> Machines::nodes_of(NodeAt node) const {
  std::vector<NodeId> nodes;
  for (const Piece& piece : pieces_[node]) nodes.push_back(piece.node);
  return nodes;
}

}  // namespace almanac::policy::whole
