// SPDX-License-Identifier: Apache-2.0

/// \file
/// What jobs could request instead, based on the use of jobs with the same user, name and request
/// (GPUs, cores and memory).
///
/// Cores: a quarter more than the largest average use of a job; a program with short peaks runs
/// longer with fewer. Memory: a fifth more than the largest use. Time: a quarter more than the
/// longest run. No advice for fewer than five jobs, for unknown use, for memory if a job ran out of
/// it, for time if a job reached its limit, and for savings below a quarter.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "study/efficiency.h"

namespace almanac::study {

/// Cost per hour of a GPU, of a core, of a GB of memory, in any currency; 0 for none.
struct Prices {
  double gpu_hour = 0;
  double core_hour = 0;
  double gb_hour = 0;

  bool any() const { return gpu_hour > 0 || core_hour > 0 || gb_hour > 0; }
};

/// For the jobs of one user, name and request. NaN, or kNoDuration: no advice.
struct RightSize {
  std::string user{};
  std::string name{};
  int jobs = 0;  ///< Jobs that ran for at least a minute.
  double gpus = 0;
  double cores = 0;
  double enough_cores = 0;
  double memory_gb = 0;
  double enough_memory_gb = 0;
  Duration limit = kNoDuration;
  Duration enough_limit = kNoDuration;
  double core_hours = 0;  ///< Core-hours that the jobs would save.
  double gb_hours = 0;    ///< Memory, likewise.

  double saved(const Prices& prices) const {
    return core_hours * prices.core_hour + gb_hours * prices.gb_hour;
  }
};

/// Returns jobs that could request less, by core-hours in descending order. The current time limit
/// is that of the last job.
std::vector<RightSize> right_sizes(const std::vector<JobUse>& jobs);

/// Whether `size` is for jobs like `job`: of its user, name and request.
bool is_for(const RightSize& size, const JobUse& job);

/// Returns the cost of what `user` held and did not use, as far as known.
double cost_of_unused(const UserUse& user, const Prices& prices);

}  // namespace almanac::study
