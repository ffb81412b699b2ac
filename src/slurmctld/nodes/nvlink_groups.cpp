// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/nodes/nvlink_groups.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace almanac::slurmctld {
namespace {

/// Returns the request of `some` of a job's `all` groups.
NodeRequest part_of(const NodeRequest& request, int some, int all) {
  const auto scale = [&](int count) { return (count * some + all - 1) / all; };
  NodeRequest part = request;
  part.min_nodes = scale(request.min_nodes);
  part.max_nodes = scale(request.max_nodes);
  part.tasks = scale(request.tasks);
  if (request.gpu_scope == GpuScope::job) part.gpus = scale(request.gpus);
  return part;
}

/// Returns the candidates of each domain, in the order of the node table.
std::vector<NodeBits> by_domain(const NodeTable& table, const NodeBits& candidates) {
  std::vector<std::uint32_t> domains;
  std::vector<NodeBits> nodes;
  candidates.each([&](NodeAt node) {
    const std::uint32_t domain = table.nvlink_domain(node);
    const auto at = std::find(domains.begin(), domains.end(), domain) - domains.begin();
    if (at == std::ssize(domains)) {
      domains.push_back(domain);
      nodes.emplace_back(table.size());
    }
    nodes[static_cast<std::size_t>(at)].insert(node);
  });
  return nodes;
}

}  // namespace

bool is_in_groups(const NodeTable& table, const Allocation& allocation, int nvlink_gpus) {
  if (nvlink_gpus == 0) return true;
  const std::vector<Share>& shares = allocation.shares;
  return std::all_of(shares.begin(), shares.end(), [&](const Share& one) {
    int gpus = 0;
    for (const Share& other : shares) {
      if (table.nvlink_domain(other.node) == table.nvlink_domain(one.node)) {
        gpus += other.num_gpus();
      }
    }
    return gpus % nvlink_gpus == 0;
  });
}

std::optional<Allocation> choose_in_groups(const Room& room, const Question& question,
                                           const Allocation& usual, FreeChoice choose) {
  const NodeTable& table = room.table();
  const int size = question.request.nvlink_gpus;
  int gpus = 0;
  for (const Share& share : usual.shares) gpus += share.num_gpus();
  const int all = gpus / size;
  std::vector<NodeBits> domains = by_domain(table, question.candidates);
  std::optional<Allocation> whole;
  int some = all;  // groups in the next domain: never more than in the one before
  for (int left = all; left > 0;) {
    std::optional<Allocation> best;
    std::size_t best_at = 0;
    some = std::min(some, left);
    while (some > 0) {
      const NodeRequest part = part_of(question.request, some, all);
      for (best_at = 0; best_at < domains.size(); ++best_at) {
        best = choose(
            room,
            {.request = part, .partition = question.partition, .candidates = domains[best_at]});
        if (best && is_in_groups(table, *best, size)) break;
        best.reset();
      }
      if (best) break;
      --some;
    }
    if (!best) return std::nullopt;
    left -= some;
    domains.erase(domains.begin() + static_cast<std::ptrdiff_t>(best_at));
    if (!whole) {
      whole = std::move(best);
    } else {
      std::move(best->shares.begin(), best->shares.end(), std::back_inserter(whole->shares));
    }
  }
  if (!whole) return whole;
  std::sort(whole->shares.begin(), whole->shares.end(),
            [](const Share& one, const Share& other) { return one.node < other.node; });
  return whole;
}

}  // namespace almanac::slurmctld
