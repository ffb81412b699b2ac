// SPDX-License-Identifier: Apache-2.0

/// \file
/// Waits in queues that are known in closed form: Poisson arrivals, first come, first served. Times
/// are in mean services; `load` is arrivals a service of each server, above 0 and below 1.
///
/// Source   Erlang 1909, 1917; Pollaczek 1930, Khinchine 1932; Franx, A simple solution for the
///          M/D/c waiting time distribution, Operations Research Letters 2001.
#pragma once

#include <vector>

namespace almanac::stats {

/// M/M/c: services are exponential.
class ExponentialQueue {
 public:
  /// O(servers).
  ExponentialQueue(int servers, double load);

  double probability_of_wait() const { return waits_; }  ///< Erlang C.
  double mean_wait() const { return waits_ / rate_; }
  /// The least wait that a part `q` of all, 0 <= q < 1, does not exceed.
  double wait_quantile(double q) const;

 private:
  double waits_ = 0;
  double rate_ = 0;  // at which a wait that has begun ends
};

/// M/D/1: all services are equally long.
class ConstantQueue {
 public:
  explicit ConstantQueue(double load) : load_(load) {}

  double mean_wait() const { return load_ / (2 * (1 - load_)); }
  double wait_variance() const;
  /// P(wait <= x). O(x^2) at first, then O(x). Terms are all above 0, so none are cancelled.
  double wait_at_most(double x);
  /// The least wait that a part `q` of all, 0 <= q < 1, does not exceed; to 1e-12 of it.
  double wait_quantile(double q);

 private:
  double load_;
  std::vector<double> in_system_;    // P(so many jobs are there)
  std::vector<double> in_queue_;     // P(so many jobs or fewer wait)
  std::vector<double> more_arrive_;  // P(so many or more come during a service)
};

}  // namespace almanac::stats
