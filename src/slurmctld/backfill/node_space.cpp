// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/node_space.h"

#include <algorithm>
#include <limits>

namespace almanac::slurmctld {

void NodeSpace::reset(Seconds begin, Seconds end, const NodeBits& nodes) {
  begin_ = begin;
  end_ = end;
  for (ZoneAt zone = 0; zone < periods_.size(); ++zone) {
    const std::span<const Word> words = nodes.words(zones_.extent(zone));
    Periods& periods = periods_[zone];
    periods.begins.assign(1, begin);
    periods.free.assign(words.begin(), words.end());
    periods.width = words.size();
  }
  begins_.clear();
  empty_.clear();
}

std::size_t NodeSpace::position(const Periods& periods, Seconds at) {
  const auto next = std::upper_bound(periods.begins.begin(), periods.begins.end(), at);
  return static_cast<std::size_t>(next - periods.begins.begin()) - 1;
}

bool NodeSpace::includes(const Periods& periods, std::size_t at, std::span<const Word> nodes) {
  const Word* const free = periods.nodes(at);
  for (std::size_t word = 0; word < nodes.size(); ++word) {
    if ((nodes[word] & ~free[word]) != 0) return false;
  }
  return true;
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
  const std::span<Word> left = nodes.words(extent);
  before_.assign(left.begin(), left.end());
  Seconds later = 0;
  for (std::size_t at = position(periods, std::max(start, begin_)); at < periods.size(); ++at) {
    const Word* const free = periods.nodes(at);
    if (later == 0 && at + 1 < periods.size()) {
      // Nodes that are free in both do not let the job start later than it could now.
      const Word* const next = periods.nodes(at + 1);
      Word more = 0;
      for (std::size_t word = 0; word < left.size(); ++word) {
        more |= before_[word] & next[word] & ~free[word];
      }
      if (more != 0) later = periods.begins[at + 1];
    }
    if (periods.begins[at] > end) break;
    for (std::size_t word = 0; word < left.size(); ++word) left[word] &= free[word];
    if (later != 0 && !nodes.has_at_least(least, extent)) break;
  }
  return later > end && later > horizon(end) ? 0 : later;
}

bool NodeSpace::is_promised(ZoneAt zone, const NodeBits& nodes, Seconds start, Seconds end) const {
  const Periods& periods = periods_[zone];
  if (start >= end_) return false;
  const std::span<const Word> words = nodes.words(zones_.extent(zone));
  for (std::size_t at = position(periods, std::max(start, begin_));
       at < periods.size() && periods.begins[at] < end; ++at) {
    if (!includes(periods, at, words)) return true;
  }
  return false;
}

Seconds NodeSpace::first_promise(ZoneAt zone, const NodeBits& nodes, Seconds at) const {
  const Periods& periods = periods_[zone];
  const std::span<const Word> words = nodes.words(zones_.extent(zone));
  for (std::size_t period = 0; period < periods.size(); ++period) {
    if (periods.begins[period] > at && !includes(periods, period, words)) {
      return periods.begins[period];
    }
  }
  return kNoSeconds;
}

std::size_t NodeSpace::cut(Periods& periods, Seconds at) {
  const std::size_t first = position(periods, at);
  if (periods.begins[first] == at) return first;
  const auto second = static_cast<std::ptrdiff_t>(first) + 1;
  const auto width = static_cast<std::ptrdiff_t>(periods.width);
  periods.begins.insert(periods.begins.begin() + second, at);
  // Room for the second period, then a copy of the first.
  periods.free.insert(periods.free.begin() + second * width, periods.width, Word{0});
  std::copy_n(periods.nodes(first), periods.width, periods.nodes(first + 1));
  const auto found = find(at);
  if (found == begins_.end() || found->at != at) {
    begins_.insert(found, {at, 1});
  } else if (++found->zones == 1) {
    empty_.erase(std::lower_bound(empty_.begin(), empty_.end(), at));
  }
  return first + 1;
}

void NodeSpace::join(Periods& periods, std::size_t second) {
  if (second == 0 || second >= periods.size()) return;
  const Word* const nodes = periods.nodes(second);
  if (!std::equal(nodes, nodes + periods.width, periods.nodes(second - 1))) return;
  const Seconds at = periods.begins[second];
  const auto position = static_cast<std::ptrdiff_t>(second);
  const auto width = static_cast<std::ptrdiff_t>(periods.width);
  periods.begins.erase(periods.begins.begin() + position);
  periods.free.erase(periods.free.begin() + position * width,
                     periods.free.begin() + (position + 1) * width);
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
    const std::span<const Word> promised = nodes.words(zones_.extent(zone));
    for (std::size_t at = first; at < last; ++at) {
      Word* const free = periods.nodes(at);
      for (std::size_t word = 0; word < promised.size(); ++word) free[word] &= ~promised[word];
    }
    for (std::size_t at = last + 1; at-- > first;) join(periods, at);
  }
  // slurmctld joins one pair of equal neighbours. If the promise begins with the first period, the
  // pair is an empty period at the begin and the rest.
  if (at_once || empty_.empty()) return;
  begins_.erase(find(empty_.front()));
  empty_.erase(empty_.begin());
}

}  // namespace almanac::slurmctld
