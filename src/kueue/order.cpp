// SPDX-License-Identifier: Apache-2.0
#include "kueue/order.h"

#include <algorithm>

#include "kueue/shortage.h"

namespace almanac::kueue {

Front front_of(World& world, QueueAt queue, std::span<const Holding> holding,
               std::span<const Waiting> line) {
  Backfill found = backfill(world, queue, holding, line.first(std::min(line.size(), kMostLined)));
  Front made{.first = std::move(found.now)};
  if (!made.first.empty()) made.bands.push_back(made.first.size());
  if (found.head) {
    made.first.push_back(*found.head);
    made.bands.push_back(made.first.size());
  }
  return made;
}

Duration expected_rest(Duration run, Duration limit, Duration age) {
  const Duration most = limit == kNoDuration ? kNoDuration : std::max(Duration{0}, limit - age);
  if (run == kNoDuration) return most;
  const Duration left = run > age ? run - age : std::max<Duration>(age, 1s);
  return most == kNoDuration ? left : std::min(left, most);
}

bool never_starts(const World& world, const Workload& workload) {
  const std::vector<Shortage> shortages = shortages_of(world, workload);
  return !shortages.empty() && std::all_of(shortages.begin(), shortages.end(),
                                           [](const Shortage& of) { return of.is_for_ever(); });
}

}  // namespace almanac::kueue
