// SPDX-License-Identifier: Apache-2.0
#include "machine/room_short.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace almanac::machine {
namespace {

/// Part of the cores and memory of `wanted` that `free` covers; the scarcer one counts.
double covered(const cluster::Amount& free, const cluster::Amount& wanted) {
  const auto part = [](std::int32_t has, std::int32_t needs) {
    return needs == 0 ? 1 : static_cast<double>(has) / needs;
  };
  return std::min(part(free.cpu_milli, wanted.cpu_milli), part(free.memory_mb, wanted.memory_mb));
}

std::string text_of(const cluster::Amount& amount, const cluster::Amount& wanted) {
  std::string text;
  if (wanted.cpu_milli > 0) {
    const double cores = amount.cpu_milli / 1e3;
    text = fmt::format("{:g} core{}", cores, cores == 1 ? "" : "s");
  }
  if (wanted.memory_mb > 0) {
    text += fmt::format("{}{:.3g} GB of memory", text.empty() ? "" : ", ", amount.memory_mb / 1e3);
  }
  return text;
}

}  // namespace

std::string room_short(const cluster::Cluster& cluster, const cluster::Ledger& ledger, VcId vc,
                       const cluster::Demand& demand) {
  std::optional<NodeId> best;
  cluster::Amount best_wanted;
  double most = -1;
  for (const cluster::Pool& pool : ledger.pools(vc)) {
    if (!pool.suits(demand) || pool.rooms.empty()) continue;
    const int units = demand.is_cpu_job() ? 1 : std::min(demand.gpus, pool.gpus_per_node);
    const cluster::Amount wanted = demand.of(units);
    for (const NodeId node : pool.nodes) {
      const cluster::Amount free = ledger.room(node);
      if (free.gpus < wanted.gpus && !demand.is_part()) continue;
      if (const double part = covered(free, wanted); part > most) {
        most = part;
        best = node;
        best_wanted = wanted;
      }
    }
  }
  if (!best || text_of(best_wanted, best_wanted).empty()) return "";
  return fmt::format("needs {}; {} free on node {}", text_of(best_wanted, best_wanted),
                     text_of(ledger.room(*best), best_wanted), cluster.node_label(*best));
}

}  // namespace almanac::machine
