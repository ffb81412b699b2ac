// SPDX-License-Identifier: Apache-2.0
#include "formulas/trial.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "cluster/cells/scheduler.h"

namespace almanac::cells {
namespace {

class Trier {
 public:
  Trier(Cluster cluster, std::uint64_t seed) : scheduler_(std::move(cluster)), rng_(seed) {}

  Trial run(std::int64_t requests) {
    if (scheduler_.cluster().vcs.empty()) return trial_;
    for (std::int64_t i = 0; i < 50 * requests && trial_.fitting < requests; ++i) {
      if (!running_.empty() && rng_.below(5) < 2) {
        stop(running_[rng_.below(running_.size())]);
      } else {
        submit(draw(i));
      }
    }
    while (!running_.empty()) stop(running_.back());
    const std::vector<Pool>& pools = scheduler_.pools();
    trial_.whole = std::all_of(pools.begin(), pools.end(), [](const Pool& pool) {
      // What is pinned is never free.
      const std::vector<Cell*>& tops = pool.chain().cells[pool.chain().top()];
      return std::all_of(tops.begin(), tops.end(), [&](const Cell* top) {
        const std::vector<Cell*>& free = pool.free()[top->level];
        return has_pinned(*top) || std::find(free.begin(), free.end(), top) != free.end();
      });
    });
    return trial_;
  }

 private:
  static bool has_pinned(const Cell& cell) {
    return cell.pinned || std::any_of(cell.children.begin(), cell.children.end(),
                                      [](const Cell* child) { return has_pinned(*child); });
  }

  Request draw(std::int64_t number) {
    const Cluster& cluster = scheduler_.cluster();
    const VirtualCluster& vc = cluster.vcs[rng_.below(cluster.vcs.size())];
    Request request{.group = fmt::format("g{}", number),
                    .vc = vc.name,
                    .priority = static_cast<int>(rng_.below(5)) - 1,
                    .lazy = rng_.below(2) == 0};
    const std::size_t places = vc.cells.size() + vc.pinned.size();
    std::size_t place = rng_.below(std::max<std::size_t>(places, 1));
    if (place < vc.cells.size()) {
      const int chain = std::next(vc.cells.begin(), static_cast<std::ptrdiff_t>(place))->first;
      request.leaf_type = cluster.chains[chain].types[1];
    } else if (places > 0 && request.priority > kOpportunistic) {
      place -= vc.cells.size();
      request.pinned = std::next(vc.pinned.begin(), static_cast<std::ptrdiff_t>(place))->first;
    }
    for (std::uint64_t members = 1 + rng_.below(2); members > 0; --members) {
      request.members.push_back({1 + static_cast<int>(rng_.below(3)),
                                 1 + static_cast<int>(rng_.below(rng_.below(2) ? 4 : 16))});
    }
    return request;
  }

  void submit(const Request& request) {
    const bool fits = scheduler_.fits(request);
    Decision decision = scheduler_.decide(request, scheduler_.everywhere());
    if (decision.what == Decision::What::preempt) {
      for (const std::string& victim : decision.victims) {
        const Group& group = *scheduler_.find(victim);
        if (group.owned && group.request.vc != request.vc) ++trial_.wronged;
        stop(victim);
      }
      decision = scheduler_.decide(request, scheduler_.everywhere());
    }
    const bool bound = decision.what == Decision::What::bind;
    if (bound) {
      scheduler_.allocate(request, decision);
      running_.push_back(request.group);
    }
    if (fits) {
      ++trial_.fitting;
      trial_.served += bound ? 1 : 0;
    }
  }

  /// By value: the name is one of those that run.
  void stop(std::string group) {
    scheduler_.release(group);
    running_.erase(std::find(running_.begin(), running_.end(), group));
  }

  Scheduler scheduler_;
  Rng rng_;
  Trial trial_;
  std::vector<std::string> running_;
};

}  // namespace

Trial try_out(Cluster cluster, std::int64_t requests, std::uint64_t seed) {
  return Trier(std::move(cluster), seed).run(requests);
}

}  // namespace almanac::cells
