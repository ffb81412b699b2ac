// SPDX-License-Identifier: Apache-2.0

/// \file
/// Number of replicas that the requests of a log need, and those of resampled logs that may follow
/// it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inference/load_curve.h"
#include "inference/placed.h"
#include "inference/request.h"
#include "inference/service.h"

namespace almanac::inference {

struct SizeQuestion {
  Objective objective{};
  double share = 0.9;  ///< Fraction of the requests that must meet the objective.
  int most = 64;       ///< Largest number of replicas to try.
  bool split = false;  ///< Whether to split replicas into prefill and decode.
  /// Fraction of the resampled logs that must also meet the objective; 0 = this log only.
  double confidence = 0.95;
  /// Called with each number of replicas that was tried; may be empty.
  std::function<void(const std::string&)> progress{};
};

/// Size of a fleet, and its certainty.
struct Size {
  int replicas = 0;
  int prefill = 0;  ///< Prefill-only replicas, see Service.
  int for_log = 0;  ///< Replicas that are enough for this log alone.
  int drawn = 0;    ///< Resampled logs; 0 = only this log was considered.
  int served = 0;   ///< Resampled logs that met the objective.
  /// Reasons why this log cannot predict the next day, one clause each. If any, the size is valid
  /// only for hours like the log's.
  std::vector<std::string> doubts{};
  /// The load that smaller fleets and this one carry, by replicas; empty with prefill-only
  /// replicas.
  std::vector<LoadPoint> curve{};

  /// Returns what the size is valid for.
  const char* valid_for() const { return doubts.empty() ? "next day" : "this log only"; }
};

/// Returns the fewest replicas, with the best split, that meet the objective in the log and in the
/// required fraction of 20 resampled logs; for logs of several days, on each day. Logs are
/// resampled with fit_workload(), following() and generate(). Up to 8 replicas all sizes are tried;
/// beyond, the size for the log is found by bisection, and the three sizes below are tried too,
/// because adding a replica may harm.
///
/// A log predicts the next day if it covers at least two days, and if fleets sized in the same way
/// from the days before each of the last three days (where there are any) meet the objective on
/// that day.
///
/// Fails with unavailable if `most` replicas are not enough (with the number for the log alone, if
/// known), with invalid if the log is too small to resample, and like `play()`. Cost: some tens of
/// runs of the log on all cores, each until the result is known; with `split` as many for each
/// split; for two days or more up to four times that.
Result<Size> size_fleet(Service service, const Requests& requests, const SizeQuestion& asked);

/// Returns the sizes for which a curve is drawn: powers of two below `replicas`, `for_log` if above
/// 0, and `replicas`.
std::vector<int> curve_sizes(int for_log, int replicas);

/// A plan with as many copies of each part as needed. A part consists of groups that share models;
/// requests of one part never go to another.
struct SizedPlan {
  Plan plan{};
  struct Part {
    std::vector<std::string> models{};
    Size size{};  ///< Replicas are copies of the part.
  };
  std::vector<Part> parts{};
};

/// Returns the fewest copies of each part of a plan with which each of its models meets the
/// objective for the required fraction of requests. Parts without requests are left out. Fails like
/// size_fleet() and play_placed(), and with usage for a split.
Result<SizedPlan> size_plan(const Service& service, const Requests& requests, const Plan& plan,
                            const SizeQuestion& asked);

/// Returns the reasons in Size::doubts that come from the length and the tenants of a log.
std::vector<std::string> doubts_of_span(const Requests& requests);
/// Returns the hours from the first request to the last.
double hours_of(const Requests& requests);
/// Returns the attainment of the worst day. Days start with the log; an incomplete last day belongs
/// to the day before.
double attained_each_day(const Requests& requests, const std::vector<Outcome>& outcomes,
                         const Objective& objective);

}  // namespace almanac::inference
