// SPDX-License-Identifier: Apache-2.0
#include "kueue/order_guard.h"

#include <map>

#include <fmt/format.h>

#include "kueue/quota_tree.h"

namespace almanac::kueue {
namespace {

std::string compares_priorities(const ClusterQueue& queue) {
  if (queue.within_queue != Preempts::never) return "withinClusterQueue preempts";
  if (queue.reclaim_within_cohort == Preempts::lower_priority) {
    return "reclaimWithinCohort preempts by priority";
  }
  if (queue.preempts_while_borrowing) return "borrowWithinCohort preempts by priority";
  return "";
}

}  // namespace

std::vector<std::string> unsafe_orders(const Setup& setup) {
  const QuotaTree tree(setup);
  std::map<NodeAt, std::string> reasons;  // by root
  for (std::size_t at = 0; at < setup.queues.size(); ++at) {
    const std::string why = compares_priorities(setup.queues[at]);
    if (why.empty()) continue;
    reasons.try_emplace(tree.root(static_cast<NodeAt>(at)),
                        fmt::format("{} in queue {}", why, setup.queues[at].name));
  }
  std::vector<std::string> made;
  for (std::size_t at = 0; at < setup.queues.size(); ++at) {
    const auto reason = reasons.find(tree.root(static_cast<NodeAt>(at)));
    made.push_back(reason == reasons.end() ? "" : reason->second);
  }
  return made;
}

std::vector<std::string> sharing_queues(const Setup& setup) {
  const QuotaTree tree(setup);
  std::map<NodeAt, std::vector<std::size_t>> queues;  // by root
  for (std::size_t at = 0; at < setup.queues.size(); ++at) {
    queues[tree.root(static_cast<NodeAt>(at))].push_back(at);
  }
  std::vector<std::string> made(setup.queues.size());
  for (const auto& [root, of_tree] : queues) {
    for (const std::size_t at : of_tree) {
      if (of_tree.size() == 1) continue;
      made[at] = setup.queues[of_tree[at == of_tree[0] ? 1 : 0]].name;
    }
  }
  return made;
}

std::vector<std::string> rank_obstacles(const Setup& setup, const std::set<std::string>& by_usage) {
  std::vector<std::string> made = unsafe_orders(setup);
  const std::vector<std::string> others = sharing_queues(setup);
  for (std::size_t at = 0; at < made.size(); ++at) {
    if (!made[at].empty()) {
      made[at] = "a rank could evict running workloads: " + made[at];
    } else if (!others[at].empty()) {
      made[at] = fmt::format("a rank would overtake queue {}, which is in the same cohort tree",
                             others[at]);
    } else if (by_usage.contains(setup.queues[at].name)) {
      made[at] = "usage-based sharing comes before priorities";
    }
  }
  return made;
}

}  // namespace almanac::kueue
