// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lines up whole jobs at GPUs of several types, so that few jobs end late and all end soon.
///
/// Source   Yang et al., IEEE TC 2023 (Hydra): the cost is the sum of all completion times and a
///          penalty for all tardiness; branch and bound over sequences of jobs and GPUs.
/// Differs  Only the paper's abstract was available. The cost of a late second is a parameter. The
///          bound, the treatment of long searches and jobs with several GPUs are our own.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace almanac::timeshare {

/// A job to line up. Times count from now.
struct Lined {
  std::vector<double> takes_s{};  ///< Run time on each type; infinite where it cannot run.
  int gpus = 1;                   ///< All of one type.
  double age_s = 0;               ///< Time since submission.
  double due_s = std::numeric_limits<double>::infinity();
};

struct Lines {
  struct Place {
    std::size_t type = 0;
    double start_s = std::numeric_limits<double>::infinity();  ///< Infinite if it runs nowhere.
  };
  std::vector<Place> places{};  ///< By job.
  double cost_s = 0;
  bool is_best = true;  ///< The search was complete.
};

/// Returns the lines of least cost. `free_s[type]` is when each GPU of the type becomes free, in
/// any order. A job starts on the GPUs of one type that are free first, once there are enough; a
/// job later in line never starts before it. After `most_steps` steps the best lines so far count.
/// They are never worse than earliest deadline first or shortest first, with each job where it ends
/// first.
/// Cost     most_steps x jobs x GPUs
Lines least_late(const std::vector<Lined>& jobs, const std::vector<std::vector<double>>& free_s,
                 double late_worth, int most_steps);

/// Adds a job to the line for GPUs of a type and returns its start. `free_s`, for that type, is
/// sorted and stays sorted. Requires as many GPUs as the job takes.
double stand(std::vector<double>& free_s, const Lined& job, std::size_t type);

}  // namespace almanac::timeshare
