// SPDX-License-Identifier: Apache-2.0

/// \file
/// What jobs could ask instead of what they ask, from what jobs of the same user and name used.
///
/// Cores: a quarter more than the most that a job kept busy on average; a program that needs more
/// for a moment runs longer with fewer. Memory: a fifth more than the most that any had. Time: a
/// quarter more than the longest run. Nothing is said of fewer than five jobs, of what a job is not
/// known to have used, of memory where a job ran out of it, of time where one reached its limit,
/// and where less than a quarter would be saved.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "study/efficiency.h"

namespace almanac::study {

/// Cost of an hour of a GPU, of a core, of a GB of memory; in any currency. 0 = has none.
struct Prices {
  double gpu_hour = 0;
  double core_hour = 0;
  double gb_hour = 0;

  bool any() const { return gpu_hour > 0 || core_hour > 0 || gb_hour > 0; }
};

/// Of the jobs of one user and name. NaN, or kNoDuration: nothing is advised.
struct RightSize {
  std::string user{};
  std::string name{};
  int jobs = 0;  ///< That ran for a minute or longer.
  double cores = 0;
  double enough_cores = 0;
  double memory_gb = 0;
  double enough_memory_gb = 0;
  Duration limit = kNoDuration;
  Duration enough_limit = kNoDuration;
  double core_hours = 0;  ///< That the jobs held and would not have.
  double gb_hours = 0;    ///< Of memory, likewise.

  double saved(const Prices& prices) const {
    return core_hours * prices.core_hour + gb_hours * prices.gb_hour;
  }
};

/// Those who could ask less; of most core-hours first. What a job asks is what the last one asked.
std::vector<RightSize> right_sizes(const std::vector<JobUse>& jobs);

/// What `user` held and did not use, as far as it is known.
double cost_of_unused(const UserUse& user, const Prices& prices);

}  // namespace almanac::study
