// SPDX-License-Identifier: Apache-2.0
#include "rules/fairness/shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace almanac::fairness {

Judgement judge(std::span<const Holding> holdings) {
  double had = 0;
  double due = 0;
  for (const Holding& each : holdings) {
    had += each.had;
    due += each.due;
  }
  Judgement judgement{.worst = holdings.size()};
  std::vector<double> ratios;
  for (std::size_t at = 0; at < holdings.size(); ++at) {
    const Holding& each = holdings[at];
    if (had > 0 && due > 0) {
      judgement.share_error += std::max(each.had / had - each.due / due, 0.0);
    }
    if (each.due <= 0) continue;
    ratios.push_back(each.had / each.due);
    const double ratio = had > 0 ? ratios.back() * due / had : 1;
    if (judgement.worst == holdings.size() || ratio < judgement.worst_ratio) {
      judgement.worst = at;
      judgement.worst_ratio = ratio;
    }
  }
  judgement.jain = jain_index(ratios);
  return judgement;
}

double jain_index(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 1;
}

double finish_time_ratio(double jct_s, double alone_s, double jobs, double gpus) {
  return jct_s / (alone_s * std::max(1.0, jobs / gpus));
}

double lateness_weight(double rho, double power) { return std::pow(rho, power); }

}  // namespace almanac::fairness
