// SPDX-License-Identifier: Apache-2.0
#include "trace/generate_limit.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "stats/normal.h"

namespace almanac::trace {

std::uint32_t round_limit(double seconds) {
  constexpr std::array<std::uint32_t, 11> kMenu = {300,   600,   900,   1800,  3600, 7200,
                                                   10800, 14400, 21600, 28800, 43200};
  for (const std::uint32_t limit : kMenu) {
    if (seconds <= limit) return limit;
  }
  constexpr std::uint32_t kDay = 86400;
  return static_cast<std::uint32_t>(std::ceil(std::min(seconds / kDay, 365.0))) * kDay;
}

std::uint32_t ask_limit(const Workload::Limit& limit, std::int64_t typical_s, Rng& rng) {
  const double lot = rng.uniform();
  const double factor = limit.factor * std::exp(limit.spread * stats::normal_draw(rng));
  if (lot >= limit.share) return 0;
  return round_limit(static_cast<double>(typical_s) * factor);
}

}  // namespace almanac::trace
