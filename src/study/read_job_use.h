// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads what jobs of a Slurm cluster used from the text of `sacct -P` with its steps, for Slurm
/// keeps MaxRSS and the use of GPUs with these.
///
/// Cores: TotalCPU over AllocCPUS times Elapsed. Memory: of the steps the most of MaxRSS times
/// NTasks, as far as Slurm sampled it, over what AllocTRES has. GPUs: gres/gpuutil of
/// TRESUsageInAve, which Slurm 23.02 and later have where AccountingStorageTRES and the NVML plugin
/// are set up.
///
/// Source   seff of Slurm's contribs, for cores and memory.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "study/efficiency.h"

namespace almanac::study {

/// What prints all that is read: the exact command.
inline constexpr const char* kUseCommand =
    "sacct -aP -S now-7days -o JobID,JobName,User,State,Submit,ElapsedRaw,TimelimitRaw,AllocCPUS,"
    "AllocTRES,TotalCPU,MaxRSS,NTasks,TRESUsageInAve";

struct JobUseLog {
  std::vector<JobUse> jobs{};            ///< Those that ran; one that ran several times once.
  std::vector<std::string> never_ran{};  ///< Ids.
  std::vector<std::string> notes{};      ///< What the user should know, one line each.
};

/// Reads the jobs of the table at `path`; "-" is standard input. Fails with invalid, and
/// kUseCommand as hint, where a column is missing, and for a row that cannot be read unless
/// `lenient`: then such rows are left out and counted in the notes.
Result<JobUseLog> read_job_use(const std::string& path, bool lenient = false);

}  // namespace almanac::study
