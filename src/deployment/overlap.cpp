// SPDX-License-Identifier: Apache-2.0

#include "deployment/overlap.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace almanac::deployment {
namespace {

double slack(const OverlapQuery& query) {
  return query.headroom_ms - std::accumulate(query.left_ms.begin(), query.left_ms.end(), 0.0);
}

std::vector<std::size_t> by_urgency(const std::vector<OverlapQuery>& queries) {
  std::vector<std::size_t> order(queries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return slack(queries[a]) < slack(queries[b]);
  });
  return order;
}

}  // namespace

std::vector<std::size_t> overlapped_group(const std::vector<OverlapQuery>& queries,
                                          const OverlapTime& together, std::size_t most) {
  ALMANAC_CHECK(!queries.empty() && most > 0, "there is no query");
  const std::vector<std::size_t> order = by_urgency(queries);
  std::vector<std::size_t> group(queries.size());
  const OverlapQuery& head = queries[order.front()];
  group[order.front()] = head.left_ms.size();
  if (together(group) > head.headroom_ms) return std::vector<std::size_t>(queries.size());
  for (std::size_t at = 1; at < std::min(most, order.size()); ++at) {
    // The most operators with which the group still ends in time.
    std::size_t low = 0, high = queries[order[at]].left_ms.size();
    while (low < high) {
      const std::size_t middle = (low + high + 1) / 2;
      group[order[at]] = middle;
      if (together(group) <= head.headroom_ms) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    group[order[at]] = low;
  }
  return group;
}

}  // namespace almanac::deployment
