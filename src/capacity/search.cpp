// SPDX-License-Identifier: Apache-2.0
#include "capacity/search.h"

#include <algorithm>
#include <cmath>

namespace almanac::capacity {
namespace {

constexpr double kSmaller[] = {0.9, 0.8, 0.7, 0.6, 0.5};
constexpr int kLarger[] = {3, 4, 6, 8, 12, kMostTimes};
/// A goal missed by this factor is not met by fewer nodes, whose long queues take long to simulate.
constexpr double kHopeless = 10;

}  // namespace

Search::Search(const Goal& goal, int today, int least)
    : goal_(goal), today_(today), least_(std::max(1, least)) {}

int Search::size_at(double factor) const {
  return std::max(least_, static_cast<int>(std::lround(factor * today_)));
}

std::optional<int> Search::next() const {
  const auto is_new = [&](int nodes) { return !tested_.contains(nodes); };
  for (const double factor : kAtLeastTested) {
    if (is_new(size_at(factor))) return size_at(factor);
  }
  for (const double factor : kSmaller) {
    if (tested_.begin()->second > kHopeless * goal_.bound) break;
    if (is_new(size_at(factor))) return size_at(factor);
  }
  if (!goal_.is_met(tested_.rbegin()->second)) {
    for (const int times : kLarger) {
      if (is_new(size_at(times)) && size_at(times) > tested_.rbegin()->first) return size_at(times);
    }
    return std::nullopt;
  }
  const int met = *answer();
  const auto above = tested_.find(met);
  if (above == tested_.begin()) {
    return met > least_ ? std::optional(std::max(least_, met / 2)) : std::nullopt;
  }
  const int missed = std::prev(above)->first;
  return met - missed > 1 ? std::optional(missed + (met - missed) / 2) : std::nullopt;
}

std::optional<int> Search::answer() const {
  std::optional<int> smallest;
  for (auto at = tested_.rbegin(); at != tested_.rend() && goal_.is_met(at->second); ++at) {
    smallest = at->first;
  }
  return smallest;
}

}  // namespace almanac::capacity
