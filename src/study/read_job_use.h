// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the resource use of a Slurm cluster's jobs from `sacct -P` output with steps, because
/// Slurm stores MaxRSS and GPU use per step.
///
/// Cores: TotalCPU over AllocCPUS times Elapsed. Memory: the maximum over steps of MaxRSS times
/// NTasks, as far as Slurm sampled it, over AllocTRES. GPUs: gres/gpuutil, available from Slurm
/// 23.02 if AccountingStorageTRES and the NVML plugin are set up. Slurm overwrites the use of a
/// task at each sample, so TRESUsageInAve is the last sample, averaged over tasks; TRESUsageInMax
/// is the highest sample of any task. GPU memory: gres/gpumem, likewise; a task's highest times
/// NTasks. Energy: ConsumedEnergyRaw; 0 is unknown, as without an energy plugin.
///
/// Source   seff of Slurm's contribs, for cores and memory; jag_common_poll_data of Slurm's
///          common_jag.c for what the averages are.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "study/efficiency.h"

namespace almanac::study {

/// The exact command that prints everything needed.
inline constexpr const char* kUseCommand =
    "sacct -aP -S now-7days -o JobID,JobName,User,Partition,State,Submit,ElapsedRaw,TimelimitRaw,"
    "AllocCPUS,AllocTRES,TotalCPU,MaxRSS,NTasks,TRESUsageInAve,TRESUsageInMax,ConsumedEnergyRaw";

struct JobUseLog {
  std::vector<JobUse> jobs{};            ///< Jobs that ran; a job with several runs appears once.
  std::vector<std::string> never_ran{};  ///< Ids.
  std::vector<std::string> notes{};      ///< Notes for the user, one line each.
};

/// Reads the jobs of the table at `path`; "-" is standard input. Fails with `invalid`, and
/// kUseCommand as a hint, if a column is missing, and for an invalid row unless `lenient`; invalid
/// rows are then skipped and counted in the notes.
Result<JobUseLog> read_job_use(const std::string& path, bool lenient = false);

}  // namespace almanac::study
