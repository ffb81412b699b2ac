// SPDX-License-Identifier: Apache-2.0

/// \file
/// What jobs of a Slurm used of what they held: cores, memory, GPUs, their time limit.
///
/// Read is the text of `sacct -P` with its steps, for Slurm keeps MaxRSS and the use of GPUs with
/// these. Cores: TotalCPU over AllocCPUS times Elapsed. Memory: of the steps the most of MaxRSS
/// times NTasks, as far as Slurm sampled it, over what AllocTRES has. GPUs: gres/gpuutil of
/// TRESUsageInAve, which Slurm 23.02 and later have where AccountingStorageTRES and the NVML plugin
/// are set up.
///
/// Source   seff of Slurm's contribs, for cores and memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace almanac::study {

/// A job that has ended or runs. NaN, or kNoDuration, is what the log does not tell.
struct JobUse {
  std::string id{};
  std::string name{};
  std::string user{};
  std::string state{};
  Time submit = kNoTime;
  Duration elapsed{0};
  Duration limit = kNoDuration;
  double cores = 0;
  double gpus = 0;
  double memory_gb = 0;       ///< Held, of 1024 MiB.
  double cores_used = 0;      ///< On average.
  double memory_used_gb = 0;  ///< At most.
  double gpu_use = 0;         ///< Share of the time in which its GPUs computed, their mean.

  double core_share() const { return cores_used / cores; }
  double memory_share() const { return memory_used_gb / memory_gb; }
  double time_share() const;
};

/// The jobs of a user, those that ran for a minute or longer.
struct UserUse {
  std::string user{};
  int jobs = 0;
  double core_hours = 0;         ///< Held by jobs whose use of cores is known.
  double core_hours_unused = 0;  ///< Of these.
  double gpu_hours = 0;          ///< Held, known or not.
  double gpu_hours_known = 0;    ///< Held by jobs whose use of GPUs is known.
  double gpu_hours_unused = 0;   ///< Of these, in which the GPUs did not compute.
  double gb_hours = 0;           ///< Of memory, held by jobs whose use of it is known.
  double gb_hours_unused = 0;    ///< Of these, never used at any time of the job.
  double memory_share = 0;       ///< Median of the jobs that tell; NaN = none does.
  double time_share = 0;         ///< Likewise, of their limits.
};

/// What prints all that is read: the exact command.
inline constexpr const char* kUseCommand =
    "sacct -aP -S now-7days -o JobID,JobName,User,State,Submit,ElapsedRaw,TimelimitRaw,AllocCPUS,"
    "AllocTRES,TotalCPU,MaxRSS,NTasks,TRESUsageInAve";

/// Reads the jobs of the table at `path`; "-" is standard input. Jobs that never ran are left out.
/// Fails with invalid, and kUseCommand as hint, where a column is missing.
Result<std::vector<JobUse>> read_job_use(const std::string& path);

/// By GPU-hours and core-hours that were not used, the most first.
std::vector<UserUse> by_user(const std::vector<JobUse>& jobs);

}  // namespace almanac::study
