// SPDX-License-Identifier: Apache-2.0

/// \file
/// Holds jobs of Slurm to fewer cores than it gave them, and lets go again.
///
/// By the processor time of the job's own group (cpu.max, cpu.cfs_quota_us), which changes nothing
/// that Slurm or the job have set; where Slurm has made no group for that, by its processors
/// (cpuset.cpus), of which the first stay. Never more than Slurm gave: a job that is to have that,
/// or more, is let go.
///
/// What a file said before is in a file of ours before it is changed, so that an agent that comes
/// after a crash lets go. What another process has written since is its own and stays; Slurm writes
/// its own again when a step begins, and is held again at the next look.
///
/// Source   Linux, cgroup-v2.rst "CPU", sched-bwc.rst, cpusets.rst: a group's processors are a part
///          of its parent's, in v1 as written.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/job_groups.h"
#include "agent/wire.h"
#include "base/result.h"

namespace almanac::agent {

class Limits {
 public:
  /// `memory` is a path for what is to be remembered; what an earlier one left there is let go.
  /// Fails with unavailable where it cannot be written, with corrupt where it is none of ours.
  static Result<Limits> open(std::string memory);

  /// Holds these, and no others. `there` are the jobs of this node. Gives why some cannot be held.
  std::map<slurm::JobNumber, std::string> hold(const std::vector<Limit>& wanted,
                                               const std::vector<JobGroups>& there);
  /// Lets all go.
  void lift_all();
  /// Cores that a job is held to; nothing = it is as Slurm has it.
  std::optional<double> of(slurm::JobNumber job) const;
  /// Processors that Slurm lets a job use, whatever we have made of that; nothing = any.
  std::optional<std::vector<int>> cpus_of(const JobGroups& job) const;
  bool none() const { return held_.empty(); }

  /// A file that we have changed.
  struct Change {
    std::string file{};
    std::string was{};
    std::string becomes{};
    std::string before{};  ///< What we had made of it before; "" = nothing yet.
  };

 private:
  struct Held {
    std::optional<double> cores{};
    std::vector<Change> changes{};  // of a group's parts before the group
  };
  using All = std::map<slurm::JobNumber, Held>;

  explicit Limits(std::string memory) : memory_(std::move(memory)) {}
  Result<void> remember() const;
  static Result<All> recall(const std::string& memory);
  /// Changes what is not as it should be; "" = done.
  std::string hold_one(const JobGroups& job, double cores);
  static void lift(const Held& held);

  std::string memory_;
  All held_;
};

}  // namespace almanac::agent
