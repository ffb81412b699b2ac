// SPDX-License-Identifier: Apache-2.0
#include "advice/worth.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include <tbb/parallel_for.h>

#include "advice/candidates.h"
#include "advice/gain.h"
#include "capacity/resize.h"
#include "capacity/resize_site.h"

namespace almanac::advice {
namespace {

/// More nodes than this times today's count as not reaching a wait.
constexpr int kMostTimes = 2;
/// Precision of a number of nodes: this fraction of today's nodes.
constexpr int kExactParts = 100;

/// Today's settings on other numbers of nodes.
class LargerSites {
 public:
  explicit LargerSites(const Play& play)
      : play_(play), groups_(capacity::groups_of(play.cluster())) {}

  /// Simulates the sizes that were not yet. Returns false if it was stopped.
  bool simulate(const std::set<int>& sizes) {
    std::vector<int> wanted;
    for (const int nodes : sizes) {
      if (!lived_.contains(nodes)) wanted.push_back(nodes);
    }
    std::vector<std::optional<std::vector<Lived>>> made(wanted.size());
    tbb::parallel_for(std::size_t{0}, wanted.size(),
                      [&](std::size_t at) { made[at] = on(wanted[at]); });
    for (std::size_t at = 0; at < wanted.size(); ++at) {
      if (!made[at]) return false;
      lived_.emplace(wanted[at], *std::move(made[at]));
    }
    return true;
  }

  /// Whether the jobs that `change` compares wait no longer on `nodes` nodes than with the change.
  bool suffices(int nodes, const Change& change) const {
    return figures_of(kept(lived_.at(nodes), change.compared)).avg_wait_s <=
           change.after.avg_wait_s;
  }

 private:
  std::optional<std::vector<Lived>> on(int nodes) const {
    const std::vector<int> none(groups_.size(), 0);
    const cluster::Cluster larger =
        capacity::resized(play_.cluster(), capacity::split(groups_, none, nodes));
    const auto site =
        std::make_shared<const site::Site>(capacity::resized(*play_.conditions().site, larger));
    return play_.under(slurm_today(play_.log(), true), {.site = site, .cluster = &larger});
  }

  const Play& play_;
  std::vector<capacity::Group> groups_;
  std::map<int, std::vector<Lived>> lived_;  // by number of nodes
};

/// Whether each node of the site is one node of the cluster: one with GPUs of several types is
/// several, which would grow apart.
bool has_uniform_nodes(const cluster::Cluster& cluster) {
  std::set<std::string_view> names;
  return std::all_of(cluster.nodes.begin(), cluster.nodes.end(),
                     [&](const cluster::Node& each) { return names.insert(each.name).second; });
}

/// The numbers of nodes between which a change's is.
struct Bounds {
  Change* change;
  int too_few;
  int enough;
};

}  // namespace

Result<void> add_worth(const Play& play, std::span<Change* const> changes) {
  if (!has_uniform_nodes(play.cluster())) return {};
  const auto today = static_cast<int>(play.cluster().nodes.size());
  const int exact = std::max(1, today / kExactParts);
  LargerSites sites(play);
  std::vector<Bounds> open;
  for (Change* const each : changes) {
    if (each->jobs == 0 || each->after.avg_wait_s >= each->before.avg_wait_s) continue;
    each->worth = Worth{.nodes = today};
    open.push_back({each, today, kMostTimes * today});
  }
  if (open.empty()) return {};
  const auto stopped = [] { return fail(Code::unavailable, "interrupted"); };
  if (!sites.simulate({kMostTimes * today})) return stopped();
  std::erase_if(
      open, [&](const Bounds& each) { return !sites.suffices(kMostTimes * today, *each.change); });
  while (!open.empty()) {
    std::set<int> sizes;
    for (const Bounds& each : open) sizes.insert((each.too_few + each.enough) / 2);
    if (!sites.simulate(sizes)) return stopped();
    for (Bounds& each : open) {
      const int middle = (each.too_few + each.enough) / 2;
      (sites.suffices(middle, *each.change) ? each.enough : each.too_few) = middle;
      each.change->worth->needed = each.enough;
    }
    std::erase_if(open, [&](const Bounds& each) { return each.enough - each.too_few <= exact; });
  }
  return {};
}

}  // namespace almanac::advice
