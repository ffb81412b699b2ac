// SPDX-License-Identifier: Apache-2.0

#include "deployment/forecast.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "stats/line.h"

namespace almanac::deployment {
namespace {

/// Requests a second between two times, the first included.
double rate_between(const PastRequests& past, double from_ms, double to_ms) {
  const auto& all = past.arrivals_ms;
  const auto first = std::lower_bound(all.begin(), all.end(), from_ms);
  const auto last = std::lower_bound(first, all.end(), to_ms);
  return 1000 * static_cast<double>(last - first) / (to_ms - from_ms);
}

/// The rates of the last steps, oldest first.
std::vector<double> step_rates(const PastRequests& past, std::size_t most) {
  const auto steps = static_cast<std::size_t>(std::lround(past.now_ms / past.step_ms));
  std::vector<double> made;
  for (std::size_t back = std::min(most, std::max<std::size_t>(1, steps)); back > 0; --back) {
    const double from_ms = past.now_ms - static_cast<double>(back) * past.step_ms;
    made.push_back(rate_between(past, from_ms, from_ms + past.step_ms));
  }
  return made;
}

}  // namespace

double last_rate(const PastRequests& past) { return step_rates(past, 1).back(); }

double highest_of_twenty(const PastRequests& past) {
  const std::vector<double> rates = step_rates(past, 20);
  return *std::max_element(rates.begin(), rates.end());
}

double line_of_five(const PastRequests& past) {
  const std::vector<double> rates = step_rates(past, 5);
  return std::max(rates.back(), stats::line_at(rates, static_cast<double>(rates.size())));
}

double line_with_headroom(const PastRequests& past) { return 1.2 * line_of_five(past); }

double envelope(const PastRequests& past) {
  double most = 0;
  for (const double window_s : {5, 10, 20, 40, 60}) {
    const double window_ms = std::min(1000 * window_s, past.now_ms);
    most = std::max(most, rate_between(past, past.now_ms - window_ms, past.now_ms));
  }
  return most;
}

}  // namespace almanac::deployment
