// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many tasks of a Slurm job array may run at a time (%N of --array, ArrayTaskThrottle).
///
/// Accounting's text has the throttle in the id of the tasks that are still pending ("51_[4-12%3]")
/// and in the --array option of the submit line. A throttle that only a directive in the script
/// states, or that was changed while tasks ran, is unknown once no task is pending.
///
/// Source   sacct(1) and sbatch(1) of Slurm 22.05.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace almanac::sim {

/// Returns the array of a task: "51" for the id "51_3"; "" if the id is no task's.
std::string_view array_of(std::string_view id);

/// Returns the throttle of an array as Slurm writes its tasks: 2 for "0-9%2" or "51_[4-12%2]"; 0 if
/// there is none.
std::int32_t throttle_of_tasks(std::string_view tasks);

/// Returns the throttle in the first --array option of a command line; 0 if there is none.
std::int32_t throttle_of_line(std::string_view line);

/// The throttles that a log states for its arrays. What pending tasks state counts before the
/// submit line, which is older.
class Throttles {
 public:
  /// Cost: O(jobs log arrays), and O(jobs) if no job is a task.
  explicit Throttles(const trace::Trace& trace);

  /// Returns how many tasks of the array of job `id` may run at a time; 0 = all, or no task.
  std::int32_t of(std::string_view id) const;
  bool any() const { return !arrays_.empty(); }

 private:
  std::map<std::string, std::int32_t, std::less<>> arrays_;
};

}  // namespace almanac::sim
