// SPDX-License-Identifier: Apache-2.0

/// \file
/// The control groups of Slurm's jobs on this node.
///
///   v2  MOUNT/system.slice/slurmstepd.scope/job_J/step_S/user/task_T
///   v1  MOUNT/slurm/uid_U/job_J/step_S/task_T, in each controller
///
/// A slurmd that shares its machine with others, as on Debian, includes the name of its node:
/// NODE_slurmstepd.scope, slurm_NODE.
///
/// Source   Slurm 22.05 to 24.11, src/plugins/cgroup/v2/cgroup_v2.c and v1/cgroup_v1.c.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "manager/job.h"

namespace almanac::agent {

/// Mount points of the hierarchies; "" if not mounted. Those of v1 may be one folder.
struct Mounts {
  std::string unified{};  ///< v2.
  std::string cpu{};
  std::string cpuacct{};
  std::string cpuset{};
  std::string freezer{};
};

/// Parses the format of proc_pid_mountinfo(5).
Mounts find_mounts(const std::string& mountinfo = "/proc/self/mountinfo");

/// Folder of a job in each hierarchy; "" if it has none. Either `unified` or the others are set.
struct JobGroups {
  manager::JobNumber job{};
  std::string unified{};
  std::string cpu{};
  std::string cpuacct{};
  std::string cpuset{};
  std::string freezer{};
};

/// The groups of all jobs of a node, by number.
std::vector<JobGroups> find_jobs(const Mounts& mounts, const std::string& node);
/// All processes of a job, those of its steps with them.
std::vector<pid_t> processes_of(const JobGroups& job);
/// The folder and all below it, itself first.
std::vector<std::string> groups_below(const std::string& folder);

}  // namespace almanac::agent
