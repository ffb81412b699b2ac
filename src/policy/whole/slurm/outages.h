// SPDX-License-Identifier: Apache-2.0

/// \file
/// When nodes of a site were down or drained.
#pragma once

#include <algorithm>
#include <vector>

#include "site/site.h"
#include "slurmctld/jobs/job.h"

namespace almanac::policy::whole {

/// Nodes that the site's records have out of service (sacctmgr show event), and nodes that were
/// out of service when the site was read, since their reason was set. A node that is out for an
/// unknown time counts as in service.
class Outages {
 public:
  Outages() = default;
  explicit Outages(const site::Site& site) : out_(site.nodes.size()) {
    const auto second = [](Time at) { return at.time_since_epoch().count() / 1000; };
    std::vector<bool> is_open(site.nodes.size());
    for (const site::NodeEvent& each : site.node_events) {
      if (each.start == kNoTime) continue;
      changes_.push_back({second(each.start), each.node, 1});
      if (each.end != kNoTime) changes_.push_back({second(each.end), each.node, -1});
      if (each.end == kNoTime) is_open[each.node] = true;
    }
    for (slurmctld::NodeAt node = 0; node < site.nodes.size(); ++node) {
      const site::NodeState& state = site.nodes[node].state;
      if (state.future) ++out_[node];
      if (!state.is_out() || state.future || state.since == kNoTime || is_open[node]) continue;
      changes_.push_back({second(state.since), node, 1});
    }
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const Change& one, const Change& other) { return one.at < other.at; });
  }

  /// Applies what has changed until `now`. Returns whether anything has.
  bool advance(slurmctld::Seconds now) {
    const std::size_t before = next_;
    while (next_ < changes_.size() && changes_[next_].at <= now) {
      out_[changes_[next_].node] += changes_[next_].more;
      ++next_;
    }
    return next_ > before;
  }
  bool is_out(slurmctld::NodeAt node) const { return !out_.empty() && out_[node] > 0; }
  /// Returns when the next node changes; `never` if none does.
  slurmctld::Seconds next(slurmctld::Seconds never) const {
    return next_ < changes_.size() ? changes_[next_].at : never;
  }

 private:
  struct Change {
    slurmctld::Seconds at = 0;
    slurmctld::NodeAt node = 0;
    int more = 0;
  };

  std::vector<Change> changes_;  // by time
  std::size_t next_ = 0;
  std::vector<int> out_;  // by node: how many records have it out now
};

}  // namespace almanac::policy::whole
