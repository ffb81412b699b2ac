// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/deal_out/node_split.h"

#include <algorithm>

namespace almanac::policy {
namespace {

/// What a step takes, as parts of the node; never nothing.
double cost_of(const cluster::Amount& more, const cluster::Amount& room) {
  constexpr double kNothing = 1e-9;
  const auto part = [](std::int32_t want, std::int32_t have) {
    return want <= 0 ? 0.0 : static_cast<double>(want) / static_cast<double>(std::max(have, 1));
  };
  return std::max(kNothing,
                  part(more.cpu_milli, room.cpu_milli) + part(more.memory_mb, room.memory_mb));
}

}  // namespace

double split_node(std::span<NodeJob> jobs, const cluster::Amount& room) {
  cluster::Amount left{0, room.cpu_milli, room.memory_mb};
  for (NodeJob& job : jobs) {
    job.choice = job.choices->least;
    const cluster::Amount least = job.amount();
    left.cpu_milli -= least.cpu_milli;
    left.memory_mb -= least.memory_mb;
  }
  for (;;) {
    NodeJob* taker = nullptr;
    std::size_t taken = 0;
    double worth = 0;
    for (NodeJob& job : jobs) {
      const cluster::Amount now = job.amount();
      const double does = job.choices->all[job.choice].throughput;
      NodeJob other = job;
      for (other.choice = 0; other.choice < job.choices->all.size(); ++other.choice) {
        const double gain = job.choices->all[other.choice].throughput - does;
        if (gain <= 0) continue;
        const cluster::Amount more = other.amount() - now;
        if (more.cpu_milli > left.cpu_milli || more.memory_mb > left.memory_mb) continue;
        const double each = gain / cost_of(more, room);
        if (each <= worth) continue;
        worth = each;
        taker = &job;
        taken = other.choice;
      }
    }
    if (taker == nullptr) break;
    const cluster::Amount before = taker->amount();
    taker->choice = taken;
    const cluster::Amount more = taker->amount() - before;
    left.cpu_milli -= more.cpu_milli;
    left.memory_mb -= more.memory_mb;
  }
  double sum = 0;
  for (const NodeJob& job : jobs) sum += job.choices->all[job.choice].throughput;
  return sum;
}

}  // namespace almanac::policy
