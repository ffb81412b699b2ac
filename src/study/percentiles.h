// SPDX-License-Identifier: Apache-2.0

/// \file
/// A distribution as rows of percentiles.
#pragma once

#include <algorithm>
#include <vector>

#include "figure/figure.h"
#include "stats/percentiles.h"
#include "stats/quantile.h"

namespace almanac::study {

/// Adds a row for each percentile of `values` to the columns, after `key` filled in the row's other
/// columns. Sorts `values`; adds nothing if empty. O(n log n).
template <class Key>
void add_percentiles(std::vector<double>& values, figure::Column& percent, figure::Column& value,
                     Key key) {
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  for (const double p : stats::kPercentiles) {
    key();
    percent.add(p);
    value.add(stats::quantile_sorted(values, p / 100));
  }
}

}  // namespace almanac::study
