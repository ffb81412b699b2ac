// SPDX-License-Identifier: Apache-2.0

/// \file
/// The load that fleets of several sizes carry, and the fewest replicas at each moment of a log.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "inference/request.h"
#include "inference/service.h"

namespace almanac::inference {

/// A fleet and the highest mean rate of requests at which it meets the objective.
struct LoadPoint {
  int replicas = 0;
  double requests_per_s = 0;  ///< 0 if it misses it even with ten minutes between requests.
  double times_log = 0;       ///< The rate relative to the log's.
};

/// Returns a point for each of `replicas`: requests keep their lengths and order, and come
/// proportionally faster or slower. A log of more than 20,000 requests is represented by its
/// busiest 20,000 in a row; one of few requests is repeated until each replica has 300, or all have
/// 20,000, because a fleet can take a few requests at any rate. Rates are exact to 3 %. Fails like
/// `play()`. Cost: a dozen runs per point, on all cores.
Result<std::vector<LoadPoint>> load_curve(const Service& service, const Requests& requests,
                                          const Objective& objective, double share,
                                          std::span<const int> replicas);

/// Returns what up to 100 of the requests see on an idle replica, ten minutes apart: no fleet is
/// faster. Fails like `play()`.
Result<Seen> play_idle(const Service& service, const Requests& requests,
                       const Objective& objective);

/// What a perfect autoscaler uses: replicas start at once and none is idle.
struct IdealFleet {
  struct Step {
    Micros at = 0;  ///< Start of a period.
    int replicas = 0;
  };
  std::vector<Step> steps{};
  Micros period = 0;
  int peak = 0;
  double replica_s = 0;
};

/// Returns the fewest replicas in each period: its arrivals per second divided by the rate that one
/// replica serves within the objective (replica_rate()), rounded up, and at least `least`.
///
/// Source   llm-d-autoscaling, issue 1499: a lower bound for autoscalers.
/// Differs  Requests of one period are not carried over to the next.
IdealFleet ideal_fleet(const Requests& requests, double replica_requests_per_s, int least,
                       Micros period = 60e6);

}  // namespace almanac::inference
