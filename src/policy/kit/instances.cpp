// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/instances.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

namespace almanac::policy {
namespace {

/// A place for an instance; the least is the best.
struct Spot {
  double growth = 0;
  std::int32_t free_milli = 0;
  double kept = 0;
  cluster::Grant grant{};

  auto order() const { return std::tuple(growth, free_milli, -kept, grant.node, grant.gpus); }
};

/// The best start on one GPU; nothing = it fits at none.
std::optional<Spot> best_on(const InstanceMix& mix, const cluster::Ledger& ledger, NodeId node,
                            int gpu, const cluster::Demand& demand) {
  const std::optional<cluster::Grant> found = ledger.part_of(node, gpu, demand);
  if (!found) return std::nullopt;
  const slices::Board& board = *ledger.pool(node).board;
  const slices::Profile& profile = board[slices::position(board, demand.profile)];
  const slices::Taken before = ledger.taken(node, gpu);
  const double unusable = mix.unusable(board, before);
  std::optional<Spot> best;
  // From the top, as the rule without a mix: of equal starts the highest.
  for (int start = board.memory - 1; start >= 0; --start) {
    if (!slices::fits(profile, start, before)) continue;
    const slices::Taken after{before.slices | profile.mask(start), before.media || profile.media};
    Spot spot{mix.unusable(board, after) - unusable, ledger.free_milli(node, gpu),
              slices::options(board, after), *found};
    spot.grant.slice = static_cast<std::int8_t>(start);
    if (!best || spot.order() < best->order()) best = spot;
  }
  return best;
}

}  // namespace

InstanceMix::InstanceMix() {
  for (const slices::Board& board : slices::boards()) asked_.emplace_back(board.profiles.size());
}

void InstanceMix::add(const cluster::Demand& demand) {
  const bool asks_board = demand.profile == slices::kNoProfile;
  if (demand.is_cpu_job() || (asks_board && demand.is_part())) return;
  for (std::size_t each = 0; each < asked_.size(); ++each) {
    const slices::Board& board = slices::boards()[each];
    const auto all = [&](const slices::Profile& one) { return one.memory == board.memory; };
    const int at =
        asks_board
            ? static_cast<int>(std::find_if(board.profiles.begin(), board.profiles.end(), all) -
                               board.profiles.begin())
            : slices::position(board, demand.profile);
    if (at >= 0) asked_[each][static_cast<std::size_t>(at)] += demand.gpus;
  }
}

double InstanceMix::unusable(const slices::Board& board, const slices::Taken& taken) const {
  const auto& asked = asked_[static_cast<std::size_t>(slices::number(board))];
  return slices::unusable(board, taken, asked) / board.memory;
}

double InstanceMix::unusable_milli(const cluster::Ledger& ledger, NodeId node) const {
  const cluster::Pool& pool = ledger.pool(node);
  const auto& asked = asked_[static_cast<std::size_t>(slices::number(*pool.board))];
  const double jobs = std::accumulate(asked.begin(), asked.end(), 0.0);
  double sum = 0;
  for (int gpu = 0; gpu < pool.gpus_per_node && jobs > 0; ++gpu) {
    if (ledger.free_milli(node, gpu) == 0) continue;
    sum += unusable(*pool.board, ledger.taken(node, gpu)) / jobs;
  }
  return sum * cluster::kWholeGpu;
}

bool place_instance(const InstanceMix& mix, cluster::Ledger& ledger, VcId vc,
                    const cluster::Demand& demand, std::vector<cluster::Grant>& grants) {
  std::optional<Spot> best;
  for (const cluster::Pool& pool : ledger.pools(vc)) {
    if (!pool.suits(demand)) continue;
    for (const NodeId node : pool.nodes) {
      if (!ledger.room(node).covers({0, demand.cpu_milli, demand.memory_mb})) continue;
      if (!ledger.ready(node)) continue;
      bool seen_free = false;  // one free GPU is like another
      for (int gpu = 0; gpu < pool.gpus_per_node; ++gpu) {
        const bool is_free = ledger.free_milli(node, gpu) == cluster::kWholeGpu;
        if (is_free && seen_free) continue;
        seen_free = seen_free || is_free;
        const std::optional<Spot> spot = best_on(mix, ledger, node, gpu, demand);
        if (spot && (!best || spot->order() < best->order())) best = spot;
      }
    }
  }
  if (!best) return false;
  ledger.take(best->grant);
  grants.push_back(best->grant);
  return true;
}

}  // namespace almanac::policy
