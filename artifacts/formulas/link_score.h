// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much jobs that send in phases get in each other's way on a link, and by how much to shift
/// their iterations so that they do so least.
///
/// Source   Rajasekaran et al., NSDI'24 (Cassini), section 3.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace almanac::links {

/// From `from_ms` to before `to_ms` of each iteration a job sends.
struct Phase {
  int from_ms = 0;
  int to_ms = 0;
  double gbps = 0;
};

struct Sender {
  int period_ms = 1;
  std::vector<Phase> phases{};
};

/// The time after which all iterations stand to each other as before: the least common multiple of
/// the periods.
std::int64_t perimeter_ms(std::span<const Sender> senders);

/// 1 less the mean over a perimeter of the demand beyond the capacity, in capacities: 1 = no job
/// gets in another's way. Can be negative. `shifts_ms` delay the senders. Cost: O(perimeter x
/// phases).
double link_score(std::span<const Sender> senders, std::span<const int> shifts_ms,
                  double capacity_gbps);

struct Alignment {
  double score = 0;
  std::vector<int> shifts_ms{};  ///< The first stays.
};

/// The best of all shifts in whole milliseconds within a period, the lexicographically first of
/// equals. Cost: the product of all periods but the first, times the perimeter.
Alignment align(std::span<const Sender> senders, double capacity_gbps);

}  // namespace almanac::links
