// SPDX-License-Identifier: Apache-2.0
#include "report/run_bins.h"

#include <array>

namespace almanac::report {

std::int64_t bin_of(Time at, Duration width) {
  const std::int64_t ms = at.time_since_epoch().count();
  const std::int64_t bin = ms / width.count();
  return ms % width.count() < 0 ? bin - 1 : bin;
}

Duration bin_width(Time begin, Time end, std::size_t most) {
  constexpr std::array<Duration, 13> kWidths = {1s,    5s, 15s, 30s, 1min, 5min, 15min,
                                                30min, 1h, 2h,  4h,  12h,  24h};
  const auto fits = [&](Duration width) {
    return bin_of(end, width) - bin_of(begin, width) < static_cast<std::int64_t>(most);
  };
  for (const Duration width : kWidths) {
    if (fits(width)) return width;
  }
  Duration width = kWidths.back();
  while (!fits(width)) width *= 2;
  return width;
}

}  // namespace almanac::report
