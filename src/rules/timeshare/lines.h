// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whole jobs lined up at GPUs of several types, so that few end late and all end soon.
///
/// Source   Yang et al., IEEE TC 2023 (Hydra): the cost of a way is the sum of all completion times
///          and a penalty for all tardiness; branch and bound over sequences of jobs and GPUs.
/// Differs  Of the paper its abstract was at hand: what a second late is worth beside one of
///          completion is told, the bound and what becomes of a search that takes too long are
///          ours, and so are jobs of several GPUs.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace almanac::timeshare {

/// A job that is to be lined up. Times count from now.
struct Lined {
  std::vector<double> takes_s{};  ///< On each type; infinite where it cannot run.
  int gpus = 1;                   ///< That it takes, all of one type.
  double age_s = 0;               ///< Since it was submitted.
  double due_s = std::numeric_limits<double>::infinity();
};

struct Lines {
  struct Place {
    std::size_t type = 0;
    double start_s = std::numeric_limits<double>::infinity();  ///< Infinite = it runs nowhere.
  };
  std::vector<Place> places{};  ///< Of each job.
  double cost_s = 0;
  bool is_best = true;  ///< The search ended by itself.
};

/// `free_s[type]`: when each GPU of the type is free, in any order. A job starts on those of one
/// type that are free first, once it has as many as it takes; one that comes later in line never
/// starts before. After `most_steps` the best line that was found stands: at worst that of
/// deadlines or that of run times, each job where it ends first.
/// Cost: most_steps x jobs x GPUs.
Lines least_late(const std::vector<Lined>& jobs, const std::vector<std::vector<double>>& free_s,
                 double late_worth, int most_steps);

/// Lets a job stand in line for GPUs of a type: when it starts. `free_s` is of that type, sorted,
/// and stays so.
double stand(std::vector<double>& free_s, const Lined& job, std::size_t type);

}  // namespace almanac::timeshare
