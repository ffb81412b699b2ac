// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many replicas requests need: those of a log, and those that may follow it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inference/placed.h"
#include "inference/request.h"
#include "inference/service.h"

namespace almanac::inference {

struct SizeQuestion {
  Objective objective{};
  double share = 0.9;  ///< Of the requests that must meet it.
  int most = 64;       ///< Replicas.
  bool split = false;  ///< Some replicas compute prompts for the others.
  /// Part of the logs that may follow which must be served so too; 0 = the log alone counts.
  double confidence = 0.95;
  /// Hears of each number of replicas that was tried; may be empty.
  std::function<void(const std::string&)> progress{};
};

/// A fleet, and how sure that it is enough.
struct Size {
  int replicas = 0;
  int prefill = 0;  ///< As Service has it.
  int for_log = 0;  ///< Replicas that are enough for the log alone.
  int drawn = 0;    ///< Logs that were drawn; 0 = only the log was looked at.
  int served = 0;   ///< Of these, as asked.
  /// What keeps the log from telling how many replicas the following day needs, a clause each. Not
  /// empty = the fleet is for hours like those of the log, and recommended for no other.
  std::vector<std::string> doubts{};

  /// What the number is for.
  const char* valid_for() const { return doubts.empty() ? "next day" : "this log only"; }
};

/// The fewest replicas, divided as is best, that serve the log as asked and, of 20 logs that may
/// follow it, as many as the confidence says; of longer logs each day. Such a log is drawn as
/// fit_workload(), following() and generate() have it. No smaller fleet is enough: up to 8 replicas
/// all are tried; beyond, the number for the log is found by doubling and halving, with the three
/// below it tried too, for one replica more may harm.
///
/// A log tells what the following day needs if it is of two days or more, and if a fleet that is
/// sized the same way for what came before a day serves that day: of its last three, as far as
/// there are days before them.
///
/// Fails with unavailable where `most` are not enough, saying how many are for the log alone where
/// that is known, and as play() does; with invalid where the
/// log tells too little to draw others from. Cost: some tens of runs of the log, on all cores, each
/// as far as it takes to know whether it is served; with `split` as many for each division; of two
/// days or more up to four times that.
Result<Size> size_fleet(Service service, const Requests& requests, const SizeQuestion& asked);

/// A plan with as many copies of each of its parts as are needed. A part is groups that have models
/// in common: requests of one never come to another.
struct SizedPlan {
  Plan plan{};
  struct Part {
    std::vector<std::string> models{};
    Size size{};  ///< Its replicas are copies of the part.
  };
  std::vector<Part> parts{};
};

/// The same for each part of a plan: the fewest copies with which the share of the requests of each
/// of its models is served as asked. Parts that nothing is asked of are left out. Fails as
/// size_fleet() and play_placed() do, and with usage for a split.
Result<SizedPlan> size_plan(const Service& service, const Requests& requests, const Plan& plan,
                            const SizeQuestion& asked);

/// What the span and the tenants of a log keep it from telling of the following day; a part of
/// Size::doubts.
std::vector<std::string> doubts_of_span(const Requests& requests);
/// From the first request to the last.
double hours_of(const Requests& requests);
/// The part of the requests for which the objective is met, of the day that is served worst: days
/// begin with the log, and what is left of one belongs to the day before.
double attained_each_day(const Requests& requests, const std::vector<Outcome>& outcomes,
                         const Objective& objective);

}  // namespace almanac::inference
