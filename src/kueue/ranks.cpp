// SPDX-License-Identifier: Apache-2.0
#include "kueue/ranks.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace almanac::kueue {
namespace {

/// Whether Kueue starts the first `count` before all others.
bool is_split_at(std::span<const Ranked> line, std::size_t count) {
  const auto last = std::max_element(
      line.begin(), line.begin() + static_cast<std::ptrdiff_t>(count), goes_before);
  const auto next =
      std::min_element(line.begin() + static_cast<std::ptrdiff_t>(count), line.end(), goes_before);
  return goes_before(*last, *next);
}

}  // namespace

bool goes_before(const Ranked& a, const Ranked& b) {
  return std::tuple(-(a.base + a.rank), a.created, a.uid) <
         std::tuple(-(b.base + b.rank), b.created, b.uid);
}

std::vector<std::int64_t> ranks_of(std::span<const Ranked> wanted,
                                   std::span<const std::size_t> ends) {
  std::vector<Ranked> line(wanted.begin(), wanted.end());
  const auto rank_at = [ends](std::size_t place) {
    return std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return place < end; });
  };
  for (const std::size_t end : ends) {
    if (end >= line.size() || is_split_at(line, end)) continue;
    for (std::size_t place = 0; place < line.size(); ++place) {
      const std::int64_t rank = rank_at(place);
      if (place < end || line[place].rank > rank) line[place].rank = rank;
    }
  }
  std::vector<std::int64_t> made;
  for (const Ranked& each : line) made.push_back(each.rank);
  return made;
}

std::int64_t ranked_priority(std::int64_t base, std::int64_t rank) {
  const auto within = [](std::int64_t number) {
    return std::clamp<std::int64_t>(number, std::numeric_limits<std::int32_t>::min(),
                                    std::numeric_limits<std::int32_t>::max());
  };
  return within(within(base) + within(rank));
}

}  // namespace almanac::kueue
