// SPDX-License-Identifier: Apache-2.0

/// \file
/// A distribution as its percentiles: 1 to 99, and 99.9.
#pragma once

#include <algorithm>
#include <vector>

#include "figure/figure.h"
#include "stats/quantile.h"

namespace almanac::study {

/// Adds a row for each percentile of `values` to the columns, after `key` filled in the row's other
/// columns. Sorts `values`; none gives no rows. O(n log n).
template <class Key>
void add_percentiles(std::vector<double>& values, figure::Column& percent, figure::Column& value,
                     Key key) {
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  const auto add = [&](double p) {
    key();
    percent.add(p);
    value.add(stats::quantile_sorted(values, p / 100));
  };
  for (int p = 1; p <= 99; ++p) add(p);
  add(99.9);
}

}  // namespace almanac::study
