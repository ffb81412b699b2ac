// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/empty_nodes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "trace/sizes.h"

namespace almanac::policy {
namespace {

/// GPUs of a job on a node.
struct Held {
  JobId job{};
  int gpus = 0;
};

/// A job that has not stopped yet.
struct Holder {
  double nodes = 0;
  int spare = 0;  // GPUs on nodes that stay, less the fewest on which it runs
};

using Cost = std::tuple<std::int32_t, double, NodeId>;  // tier, stops, number

}  // namespace

std::vector<JobId> by_cheapest_node(const std::vector<JobId>& jobs, bool may_shrink,
                                    const View& view) {
  std::map<NodeId, std::vector<Held>> nodes;
  std::map<JobId, Holder> holders;
  for (const JobId job : jobs) {
    Holder& holder = holders[job];
    const trace::Request& request = view.request(job);
    const bool shrinks = may_shrink && request.max_gpus > 0;
    holder.spare = shrinks ? -trace::sizes_of(request).least : std::numeric_limits<int>::min();
    for (const cluster::Grant& grant : view.grants(job)) {
      nodes[grant.node].push_back({job, grant.count()});
      ++holder.nodes;
      if (shrinks) holder.spare += grant.count();
    }
  }
  const auto cost = [&](NodeId node, const std::vector<Held>& all) {
    Cost sum{std::numeric_limits<std::int32_t>::min(), 0, node};
    for (const Held& held : all) {
      const auto holder = holders.find(held.job);
      if (holder == holders.end()) continue;
      std::get<0>(sum) = std::max(std::get<0>(sum), view.tier(held.job));
      if (held.gpus > holder->second.spare) std::get<1>(sum) += 1 / holder->second.nodes;
    }
    return sum;
  };
  std::vector<JobId> stopping;
  while (!nodes.empty()) {
    auto cheapest = nodes.begin();
    Cost least = cost(cheapest->first, cheapest->second);
    for (auto each = std::next(cheapest); each != nodes.end(); ++each) {
      const Cost other = cost(each->first, each->second);
      if (other >= least) continue;
      cheapest = each;
      least = other;
    }
    for (const Held& held : cheapest->second) {
      const auto holder = holders.find(held.job);
      if (holder == holders.end()) continue;
      stopping.push_back(held.job);
      holders.erase(holder);
    }
    nodes.erase(cheapest);
  }
  return stopping;
}

}  // namespace almanac::policy
