// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many tasks of a Slurm job array may run at a time (%N of --array, ArrayTaskThrottle).
///
/// Accounting's text has the limit in the id of the tasks that are still pending ("51_[4-12%3]")
/// and in the --array option of the submit line. A limit that only a directive in the script
/// states, or that was changed while tasks ran, is unknown once no task is pending.
///
/// Source   sacct(1) and sbatch(1) of Slurm 22.05.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/trace.h"

namespace almanac::trace {

/// Returns the array of a task: "51" for the id "51_3"; "" if the id is no task's.
std::string_view array_of_task(std::string_view id);

/// Returns the limit of an array as Slurm writes its tasks: 2 for "0-9%2" or "51_[4-12%2]"; 0 if
/// there is none.
std::int32_t array_limit_of_tasks(std::string_view tasks);

/// Returns the limit in the first --array option of a command line; 0 if there is none.
std::int32_t array_limit_of_line(std::string_view line);

/// Sets Request::array_limit of all tasks of each array whose limit the log states for a task. What
/// pending tasks state counts before the field itself, and that before the submit line, which is
/// older. Cost: O(jobs log arrays), and O(jobs) if no job is a task.
void find_array_limits(Trace& trace);

}  // namespace almanac::trace
