// SPDX-License-Identifier: Apache-2.0
#include "formulas/queueing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace almanac::stats {
namespace {

/// P(a Poisson number of mean `mean` is `k` or more), summed from its far end.
double poisson_tail(double mean, std::size_t k) {
  double term = std::exp(-mean);
  for (std::size_t n = 1; n <= k; ++n) term *= mean / static_cast<double>(n);
  double sum = 0;
  for (std::size_t n = k; term > 1e-18 * sum && term > 0; ++n) {
    sum += term;
    term *= mean / static_cast<double>(n + 1);
  }
  return sum;
}

}  // namespace

ExponentialQueue::ExponentialQueue(int servers, double load) : rate_(servers * (1 - load)) {
  // Erlang B by its recursion, which overflows for no number of servers.
  const double offered = servers * load;
  double blocked = 1;
  for (int n = 1; n <= servers; ++n) blocked = offered * blocked / (n + offered * blocked);
  waits_ = blocked / (1 - load * (1 - blocked));
}

double ExponentialQueue::wait_quantile(double q) const {
  return std::max(0.0, std::log(waits_ / (1 - q)) / rate_);
}

double ConstantQueue::wait_variance() const {
  return mean_wait() * mean_wait() + load_ / (3 * (1 - load_));
}

double ConstantQueue::wait_at_most(double x) {
  if (x < 0) return 0;
  const auto services = static_cast<std::size_t>(x) + 1;  // services - 1 <= x < services
  if (in_system_.empty()) in_system_ = {1 - load_};
  while (in_queue_.size() < services) {
    // Departures that leave n jobs behind are as many as arrivals that find n: what goes up from n
    // or fewer comes down from n + 1.
    const std::size_t n = in_system_.size() - 1;
    while (more_arrive_.size() <= n + 2) {
      more_arrive_.push_back(poisson_tail(load_, more_arrive_.size()));
    }
    double up = in_system_[0] * more_arrive_[n + 1];
    for (std::size_t i = 1; i <= n; ++i) up += in_system_[i] * more_arrive_[n + 2 - i];
    in_system_.push_back(up * std::exp(load_));
    const double before = in_queue_.empty() ? in_system_[0] : in_queue_.back();
    in_queue_.push_back(before + in_system_.back());
  }
  const double mean = load_ * (static_cast<double>(services) - x);
  double term = std::exp(-mean);
  double sum = 0;
  for (std::size_t j = 0; j < services; ++j) {
    sum += in_queue_[services - 1 - j] * term;
    term *= mean / static_cast<double>(j + 1);
  }
  return sum;
}

double ConstantQueue::wait_quantile(double q) {
  if (q <= 1 - load_) return 0;
  double high = 1;
  while (wait_at_most(high) < q) high *= 2;
  double low = high / 2;
  if (high == 1) low = 0;
  while (high - low > 1e-12 * high) {
    const double middle = (low + high) / 2;
    (wait_at_most(middle) < q ? low : high) = middle;
  }
  return high;
}

}  // namespace almanac::stats
