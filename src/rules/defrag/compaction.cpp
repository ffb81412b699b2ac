// SPDX-License-Identifier: Apache-2.0
#include "rules/defrag/compaction.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace almanac::defrag {
namespace {

using cluster::Amount;
using cluster::Demand;
using cluster::GpuMask;
using cluster::Grant;
using cluster::kWholeGpu;
using cluster::Ledger;
using cluster::Pool;

/// The owner of the pieces of the job that room is made for.
constexpr std::size_t kNewcomer = ~std::size_t{0};

/// What one job holds, or is to hold, on one node.
struct Piece {
  std::size_t owner = kNewcomer;
  std::uint64_t gpu_types = 0;
  std::int32_t gpu_milli = kWholeGpu;
  Amount amount{};

  bool is_part() const { return gpu_milli < kWholeGpu; }
  std::int64_t milli() const { return std::int64_t{amount.gpus} * gpu_milli; }
  /// Sort key: jobs that are hardest to place go first.
  auto size() const { return std::tuple(milli(), amount.cpu_milli, amount.memory_mb); }
};

/// A node for a piece, and the least that it costs to make room there.
struct Site {
  NodeId node{};
  double least_gpu_s = 0;
  int left = 0;  // GPUs that would be free, where it has room

  auto order() const { return std::tuple(least_gpu_s, left, node); }
};

class Search {
 public:
  Search(Ledger& ledger, std::span<const Resident> residents, const Limits& limits)
      : ledger_(ledger),
        residents_(residents),
        looks_(limits.looks),
        below_(std::nextafter(limits.most_gpu_s, kStays)),
        gone_(residents.size(), false),
        on_node_(ledger.num_nodes()) {
    for (std::size_t at = 0; at < residents.size(); ++at) {
      const auto& held = residents[at].held;
      const bool all_ready = std::all_of(held.begin(), held.end(), [&](const Grant& grant) {
        return ledger.ready(grant.node) && may_move(ledger, grant);
      });
      if (!all_ready || residents[at].cost_gpu_s >= below_) continue;
      for (const Grant& grant : held) on_node_[index(grant.node)].push_back(at);
    }
    const auto costs_less = [&](std::size_t one, std::size_t other) {
      return std::pair(cost(one), one) < std::pair(cost(other), other);
    };
    for (auto& those : on_node_) std::sort(those.begin(), those.end(), costs_less);
  }

  /// Looks for the cheapest way to `units` of `demand` on as many nodes, on GPUs of one type.
  void look(VcId vc, const Demand& demand, std::uint64_t gpu_type, std::span<const int> units) {
    vc_ = vc;
    newcomers_nvlink_gpus_ = demand.nvlink_gpus;
    is_linked_ = demand.nvlink_gpus > 0 ||
                 std::any_of(residents_.begin(), residents_.end(),
                             [](const Resident& each) { return each.nvlink_gpus > 0; });
    if (is_linked_) find_wide_domains();
    std::vector<Piece> pieces;
    for (const int each : units) {
      pieces.push_back(
          {.gpu_types = gpu_type, .gpu_milli = demand.gpu_milli, .amount = demand.of(each)});
    }
    go_on(std::move(pieces), 0);
  }

  Answer answer() { return {std::move(best_), looks_ > 0 && newcomers_nvlink_gpus_ == 0}; }

 private:
  double cost(std::size_t resident) const { return residents_[resident].cost_gpu_s; }

  void find_wide_domains() {
    in_wide_domain_.assign(ledger_.num_nodes(), false);
    for (std::uint32_t at = 0; at < in_wide_domain_.size(); ++at) {
      const NodeId first = ledger_.domain(NodeId{at});
      if (index(first) != at) in_wide_domain_[at] = in_wide_domain_[index(first)] = true;
    }
  }

  /// Finds places for `pieces`, where those that are gone cost `spent`.
  void go_on(std::vector<Piece> pieces, double spent) {
    if (pieces.empty()) return keep(spent);
    const auto largest = std::max_element(
        pieces.begin(), pieces.end(),
        [](const Piece& one, const Piece& other) { return one.size() < other.size(); });
    const Piece piece = *largest;
    pieces.erase(largest);
    for (const Site& site : sites(piece)) {
      if (looks_ <= 0 || spent + site.least_gpu_s >= below_) return;
      std::vector<std::size_t> leaving;
      clear(site.node, piece, 0, leaving, pieces, spent);
    }
  }

  /// Returns where `piece` may go, in order of the lowest possible cost.
  std::vector<Site> sites(const Piece& piece) {
    std::vector<Site> made;
    std::set<std::tuple<const Pool*, int, int, int, NodeId>> alike;
    const Demand asked{.gpus = piece.amount.gpus, .gpu_types = piece.gpu_types};
    for (const Pool& pool : ledger_.pools(vc_)) {
      if (!pool.suits(asked)) continue;
      for (const NodeId node : pool.nodes) {
        --looks_;
        if (!ledger_.ready(node) || holds_part_of(piece.owner, node)) continue;
        const Amount room = ledger_.room(node);
        if (has_room(node, piece)) {
          made.push_back({node, 0, room.gpus - piece.amount.gpus});
        } else if (const double least = least_cost(node, piece); least < below_) {
          made.push_back({node, least, 0});
        } else {
          continue;
        }
        // One of several equal nodes suffices, of each domain of several nodes.
        const bool is_plain =
            ledger_.open_milli(node) == 0 && !any_may_go(node) && !is_placed(node);
        const bool is_wide = is_linked_ && in_wide_domain_[index(node)];
        const NodeId domain = is_wide ? ledger_.domain(node) : kNoNode;
        if (is_plain &&
            !alike.emplace(&pool, room.gpus, room.cpu_milli, room.memory_mb, domain).second) {
          made.pop_back();
        }
      }
    }
    std::sort(made.begin(), made.end(),
              [](const Site& one, const Site& other) { return one.order() < other.order(); });
    return made;
  }

  bool any_may_go(NodeId node) const {
    const auto& those = on_node_[index(node)];
    return std::any_of(those.begin(), those.end(), [&](std::size_t each) { return !gone_[each]; });
  }
  bool is_placed(NodeId node) const {
    return std::any_of(placed_.begin(), placed_.end(),
                       [&](const auto& each) { return each.second.node == node; });
  }
  bool holds_part_of(std::size_t owner, NodeId node) const {
    return std::any_of(placed_.begin(), placed_.end(), [&](const auto& each) {
      return each.first == owner && each.second.node == node;
    });
  }

  bool has_room(NodeId node, const Piece& piece) const {
    const Amount room = ledger_.room(node);
    if (!piece.is_part()) return room.covers(piece.amount);
    return (room.gpus > 0 || ledger_.open_milli(node) >= piece.gpu_milli) &&
           room.cpu_milli >= piece.amount.cpu_milli && room.memory_mb >= piece.amount.memory_mb;
  }

  /// What must give way for the GPUs alone, were jobs divisible; kStays = there is not as much.
  double least_cost(NodeId node, const Piece& piece) const {
    std::int64_t lacks = piece.milli();
    for (int gpu = 0; gpu < ledger_.pool(node).gpus_per_node; ++gpu) {
      lacks -= ledger_.free_milli(node, gpu);
    }
    std::vector<std::pair<double, std::int64_t>> rates;  // GPU-seconds for each thousandth
    bool any = false;
    for (const std::size_t each : on_node_[index(node)]) {
      if (gone_[each]) continue;
      any = true;
      for (const Grant& grant : residents_[each].held) {
        const std::int64_t milli = std::int64_t{grant.count()} * grant.gpu_milli;
        if (grant.node == node && milli > 0) {
          rates.emplace_back(cost(each) / static_cast<double>(milli), milli);
        }
      }
    }
    if (!any) return kStays;
    std::sort(rates.begin(), rates.end());
    double least = 0;
    for (const auto& [rate, milli] : rates) {
      if (lacks <= 0) break;
      least += rate * static_cast<double>(std::min(lacks, milli));
      lacks -= milli;
    }
    // Rounding must not exclude an equal cost.
    return lacks > 0 ? kStays : least * (1 - 1e-9);
  }

  /// Moves residents of `node` away until `piece` fits there, each only if it could not stay.
  void clear(NodeId node, const Piece& piece, std::size_t from, std::vector<std::size_t>& leaving,
             const std::vector<Piece>& others, double spent) {
    if (--looks_ <= 0) return;
    if (has_room(node, piece)) {
      if (all_had_to(node, piece, leaving)) settle(node, piece, leaving, others, spent);
      return;
    }
    const auto& those = on_node_[index(node)];
    for (std::size_t at = from; at < those.size(); ++at) {
      const std::size_t each = those[at];
      if (gone_[each]) continue;
      if (spent + cost(each) >= below_) return;
      const std::size_t before = ledger_.mark();
      for (const Grant& grant : residents_[each].held) ledger_.give_back(grant);
      gone_[each] = true;
      leaving.push_back(each);
      clear(node, piece, at + 1, leaving, others, spent + cost(each));
      leaving.pop_back();
      gone_[each] = false;
      ledger_.undo(before);
    }
  }

  /// Whether `piece` does not fit if any of `leaving` stays. Of the last it is known.
  bool all_had_to(NodeId node, const Piece& piece, std::span<const std::size_t> leaving) {
    for (std::size_t at = 0; at + 1 < leaving.size(); ++at) {
      const std::size_t before = ledger_.mark();
      for (const Grant& grant : residents_[leaving[at]].held) ledger_.take(grant);
      const bool fits = has_room(node, piece);
      ledger_.undo(before);
      if (fits) return false;
    }
    return true;
  }

  /// Puts `piece` on `node`, and finds places for those that left and for `others`.
  void settle(NodeId node, const Piece& piece, std::span<const std::size_t> leaving,
              const std::vector<Piece>& others, double spent) {
    std::vector<Piece> left = others;
    for (const std::size_t each : leaving) {
      for (const Grant& grant : residents_[each].held) left.push_back(piece_of(each, grant));
    }
    const auto put = [&](const Grant& grant) {
      placed_.emplace_back(piece.owner, grant);
      go_on(left, spent);
      placed_.pop_back();
    };
    const std::size_t before = ledger_.mark();
    if (!piece.is_part()) {
      put(ledger_.take(node, piece.amount));
      ledger_.undo(before);
      return;
    }
    // On each GPU that has another amount left: which is best depends on the parts to come.
    std::set<std::pair<int, int>> gpus;
    for (int gpu = 0; gpu < ledger_.pool(node).gpus_per_node; ++gpu) {
      const int milli = ledger_.free_milli(node, gpu);
      const bool known = std::any_of(gpus.begin(), gpus.end(),
                                     [&](const auto& each) { return each.first == milli; });
      if (milli >= piece.gpu_milli && !known) gpus.emplace(milli, gpu);
    }
    for (const auto& [milli, gpu] : gpus) {
      const Grant grant{.node = node,
                        .gpu_milli = piece.gpu_milli,
                        .gpus = GpuMask{1} << gpu,
                        .cpu_milli = piece.amount.cpu_milli,
                        .memory_mb = piece.amount.memory_mb};
      ledger_.take(grant);
      put(grant);
      ledger_.undo(before);
    }
  }

  Piece piece_of(std::size_t resident, const Grant& grant) const {
    const Pool& pool = ledger_.pool(grant.node);
    return {.owner = resident,
            .gpu_types = grant.gpus == 0 ? ~std::uint64_t{0} : pool.gpu_type,
            .gpu_milli = grant.gpu_milli,
            .amount = grant.amount()};
  }

  /// All have a place, and it costs less than the best so far.
  void keep(double spent) {
    if (is_linked_ && breaks_a_group()) return;
    Compaction made{.cost_gpu_s = spent};
    for (std::size_t each = 0; each < gone_.size(); ++each) {
      if (gone_[each]) made.moves.push_back({each, places_of(each)});
    }
    made.place = places_of(kNewcomer);
    below_ = spent;
    best_ = std::move(made);
  }

  bool breaks_a_group() const {
    if (!ledger_.in_domains(places_of(kNewcomer), newcomers_nvlink_gpus_)) return true;
    for (std::size_t each = 0; each < gone_.size(); ++each) {
      if (gone_[each] && !ledger_.in_domains(places_of(each), residents_[each].nvlink_gpus)) {
        return true;
      }
    }
    return false;
  }

  std::vector<Grant> places_of(std::size_t owner) const {
    std::vector<Grant> made;
    for (const auto& [whose, grant] : placed_) {
      if (whose == owner) made.push_back(grant);
    }
    std::sort(made.begin(), made.end(),
              [](const Grant& one, const Grant& other) { return one.node < other.node; });
    return made;
  }

  Ledger& ledger_;
  std::span<const Resident> residents_;
  std::int64_t looks_;
  double below_;  // what the next best costs less than
  VcId vc_{};
  int newcomers_nvlink_gpus_ = 0;
  bool is_linked_ = false;            // whether any job has NVLink groups
  std::vector<bool> in_wide_domain_;  // if so, by node: whether other nodes share its domain
  std::vector<bool> gone_;
  std::vector<std::vector<std::size_t>> on_node_;  // residents that may go, the cheapest first
  std::vector<std::pair<std::size_t, Grant>> placed_;
  std::optional<Compaction> best_;
};

/// Thousandths of GPUs of a type that are free in `vc`, of those held in parts too.
std::int64_t free_milli(const Ledger& ledger, VcId vc, std::uint64_t gpu_type) {
  std::int64_t milli = 0;
  for (const Pool& pool : ledger.pools(vc)) {
    if (pool.gpu_type != gpu_type) continue;
    milli += std::int64_t{pool.free_gpus} * kWholeGpu;
    for (const cluster::OpenGpu& open : pool.open) milli += open.free_milli;
  }
  return milli;
}

/// Whether as many cores and as much memory are free in `vc`, wherever they are.
bool has_cores_and_memory(const Ledger& ledger, VcId vc, const Demand& demand) {
  const Amount asked = demand.total();
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mb = 0;
  for (const Pool& pool : ledger.pools(vc)) {
    for (const NodeId node : pool.nodes) {
      if (cpu_milli >= asked.cpu_milli && memory_mb >= asked.memory_mb) return true;
      const Amount room = ledger.room(node);
      cpu_milli += room.cpu_milli;
      memory_mb += room.memory_mb;
    }
  }
  return cpu_milli >= asked.cpu_milli && memory_mb >= asked.memory_mb;
}

/// On how many nodes a job lies where nodes have `size` GPUs, and with how many on each.
std::vector<int> shape(const Demand& demand, int size) {
  if (demand.nodes > 0) {
    return std::vector<int>(static_cast<std::size_t>(demand.nodes), demand.gpus / demand.nodes);
  }
  std::vector<int> units(static_cast<std::size_t>(demand.gpus / size), size);
  if (demand.gpus % size > 0) units.push_back(demand.gpus % size);
  return units;
}

}  // namespace

bool may_move(const Ledger& ledger, const Grant& grant) {
  if (grant.gpu_milli == kWholeGpu) return true;
  return grant.count() == 1 && grant.gpu_memory_mb == 0 && ledger.pool(grant.node).board == nullptr;
}

bool may_have_room(const Demand& demand) {
  return demand.profile == slices::kNoProfile && !(demand.is_part() && demand.gpu_memory_mb > 0);
}

bool is_enough_free(const Ledger& ledger, VcId vc, const Demand& demand) {
  if (!may_have_room(demand)) return false;
  const std::int64_t asked = std::int64_t{demand.gpus} * demand.gpu_milli;
  const auto pools = ledger.pools(vc);
  return std::any_of(pools.begin(), pools.end(), [&](const Pool& pool) {
    return pool.suits(demand) && free_milli(ledger, vc, pool.gpu_type) >= asked;
  });
}

Answer make_room(Ledger& ledger, std::span<const Resident> residents, VcId vc, const Demand& demand,
                 const Limits& limits) {
  ALMANAC_CHECK(!demand.is_cpu_job(), "room is made for GPU jobs");
  if (!may_have_room(demand)) return {};
  // Moves free none, and the search would only find that out by looking at all of them.
  if (!has_cores_and_memory(ledger, vc, demand)) return {.is_proven = true};
  std::set<std::pair<std::uint64_t, std::vector<int>>> shapes;
  for (const Pool& pool : ledger.pools(vc)) {
    if (!pool.suits(demand)) continue;
    if (free_milli(ledger, vc, pool.gpu_type) >= std::int64_t{demand.gpus} * demand.gpu_milli) {
      shapes.emplace(pool.gpu_type, shape(demand, pool.gpus_per_node));
    }
  }
  Search search(ledger, residents, limits);
  for (const auto& [gpu_type, units] : shapes) {
    search.look(vc, demand, gpu_type, units);
  }
  return search.answer();
}

void carry_out(const Compaction& compaction, Ledger& ledger, std::span<Resident> residents) {
  for (const Move& move : compaction.moves) {
    for (const Grant& grant : residents[move.resident].held) ledger.give_back(grant);
  }
  for (const Move& move : compaction.moves) {
    for (const Grant& grant : move.to) ledger.take(grant);
    residents[move.resident].held = move.to;
  }
  for (const Grant& grant : compaction.place) ledger.take(grant);
}

}  // namespace almanac::defrag
