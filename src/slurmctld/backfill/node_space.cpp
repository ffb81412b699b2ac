// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/node_space.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace almanac::slurmctld {

void NodeSpace::reset(Seconds begin, Seconds end, const NodeBits& nodes) {
  begin_ = begin;
  end_ = end;
  for (Periods& periods : periods_) {
    for (Period& each : periods) spare_.push_back(std::move(each.nodes));
    periods.clear();
    periods.push_back({begin, copy(nodes)});
  }
  begins_.clear();
  empty_.clear();
}

NodeBits NodeSpace::copy(const NodeBits& nodes) {
  if (spare_.empty()) return nodes;
  NodeBits made = std::move(spare_.back());
  spare_.pop_back();
  made = nodes;
  return made;
}

/// Returns the period at a time that is not before the first one.
std::size_t NodeSpace::position(const Periods& periods, Seconds at) {
  const auto next =
      std::upper_bound(periods.begin(), periods.end(), at,
                       [](Seconds time, const Period& of) { return time < of.begin; });
  return static_cast<std::size_t>(next - periods.begin()) - 1;
}

std::vector<NodeSpace::Begin>::iterator NodeSpace::find(Seconds at) {
  return std::lower_bound(begins_.begin(), begins_.end(), at,
                          [](const Begin& begin, Seconds time) { return begin.at < time; });
}

Seconds NodeSpace::horizon(Seconds end) const {
  // The end of the first period that begins after the job has ended.
  const auto later = std::upper_bound(begins_.begin(), begins_.end(), end,
                                      [](Seconds time, const Begin& of) { return time < of.at; });
  return begins_.end() - later < 2 ? std::numeric_limits<Seconds>::max() : (later + 1)->at;
}

Seconds NodeSpace::narrow(ZoneAt zone, NodeBits& nodes, Seconds start, Seconds end,
                          std::size_t least) {
  const Periods& periods = periods_[zone];
  if (start >= end_) return 0;
  const NodeBits::Extent& extent = zones_.extent(zone);
  before_.take(nodes, extent);
  Seconds later = 0;
  for (std::size_t at = position(periods, std::max(start, begin_)); at < periods.size(); ++at) {
    const Period& period = periods[at];
    if (later == 0 && at + 1 < periods.size() &&
        // Nodes that are free in both do not let the job start later than it could now.
        !period.nodes.includes_common(before_, periods[at + 1].nodes, extent)) {
      later = periods[at + 1].begin;
    }
    if (period.begin > end) break;
    nodes.keep(period.nodes, extent);
    if (later != 0 && !nodes.has_at_least(least, extent)) break;
  }
  return later > end && later > horizon(end) ? 0 : later;
}

bool NodeSpace::is_promised(ZoneAt zone, const NodeBits& nodes, Seconds start, Seconds end) const {
  const Periods& periods = periods_[zone];
  if (start >= end_) return false;
  const NodeBits::Extent& extent = zones_.extent(zone);
  for (std::size_t at = position(periods, std::max(start, begin_));
       at < periods.size() && periods[at].begin < end; ++at) {
    if (!periods[at].nodes.includes(nodes, extent)) return true;
  }
  return false;
}

Seconds NodeSpace::first_promise(ZoneAt zone, const NodeBits& nodes, Seconds at) const {
  for (const Period& period : periods_[zone]) {
    if (period.begin > at && !period.nodes.includes(nodes, zones_.extent(zone))) {
      return period.begin;
    }
  }
  return kNoSeconds;
}

std::size_t NodeSpace::cut(Periods& periods, Seconds at) {
  const std::size_t first = position(periods, at);
  if (periods[first].begin == at) return first;
  Period second{at, copy(periods[first].nodes)};
  periods.insert(periods.begin() + static_cast<std::ptrdiff_t>(first) + 1, std::move(second));
  const auto found = find(at);
  if (found == begins_.end() || found->at != at) {
    begins_.insert(found, {at, 1});
  } else if (++found->zones == 1) {
    empty_.erase(std::lower_bound(empty_.begin(), empty_.end(), at));
  }
  return first + 1;
}

/// Joins a period with the one before it if both have the same nodes.
void NodeSpace::join(ZoneAt zone, std::size_t second) {
  Periods& periods = periods_[zone];
  if (second == 0 || second >= periods.size()) return;
  if (!periods[second - 1].nodes.equals(periods[second].nodes, zones_.extent(zone))) return;
  const Seconds at = periods[second].begin;
  spare_.push_back(std::move(periods[second].nodes));
  periods.erase(periods.begin() + static_cast<std::ptrdiff_t>(second));
  if (--find(at)->zones == 0) {
    empty_.insert(std::lower_bound(empty_.begin(), empty_.end(), at), at);
  }
}

void NodeSpace::promise(ZoneAt zone, const NodeBits& nodes, Seconds start, Seconds end) {
  Periods& periods = periods_[zone];
  const bool at_once = start <= begin_;
  start = std::max(start, begin_);
  if (start < end_) {
    const std::size_t first = cut(periods, start);
    const std::size_t last = end < end_ ? cut(periods, end) : periods.size();
    for (std::size_t at = first; at < last; ++at) {
      periods[at].nodes.remove(nodes, zones_.extent(zone));
    }
    for (std::size_t at = last + 1; at-- > first;) join(zone, at);
  }
  // slurmctld joins one pair of equal neighbours. If the promise begins with the first period, the
  // pair is an empty period at the begin and the rest.
  if (at_once || empty_.empty()) return;
  begins_.erase(find(empty_.front()));
  empty_.erase(empty_.begin());
}

}  // namespace almanac::slurmctld
