// SPDX-License-Identifier: Apache-2.0
#include "study/box.h"

#include <algorithm>
#include <cmath>

#include "stats/mean.h"
#include "stats/quantile.h"

namespace almanac::study {

Box box(std::span<double> sample) {
  if (sample.empty()) {
    const double nan = std::nan("");
    return {nan, nan, nan, nan, nan, nan};
  }
  std::sort(sample.begin(), sample.end());
  Box made;
  made.q1 = stats::quantile_sorted(sample, 0.25);
  made.median = stats::quantile_sorted(sample, 0.5);
  made.q3 = stats::quantile_sorted(sample, 0.75);
  const double reach = 1.5 * (made.q3 - made.q1);
  // Where no value lies between a quartile and its reach, the whisker has no length.
  made.low = std::min(made.q1, *std::lower_bound(sample.begin(), sample.end(), made.q1 - reach));
  made.high =
      std::max(made.q3, *(std::upper_bound(sample.begin(), sample.end(), made.q3 + reach) - 1));
  made.mean = stats::mean(sample);
  return made;
}

}  // namespace almanac::study
