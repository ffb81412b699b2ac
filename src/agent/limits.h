// SPDX-License-Identifier: Apache-2.0

/// \file
/// Limits jobs of Slurm to fewer cores than allocated, and restores them.
///
/// Limits the processor time of the job's own group (cpu.max, cpu.cfs_quota_us), which changes
/// nothing that Slurm or the job have set. If Slurm has created no such group, limits its
/// processors (cpuset.cpus) to the first ones. Never more than Slurm allocated: a job that may have
/// that, or more, is restored.
///
/// The previous content of a file is saved in a file of ours before it is changed, so that an agent
/// that restarts after a crash can restore it. What another process has written since stays; Slurm
/// rewrites its own settings when a step begins, and the next look limits them again.
///
/// Source   Linux, cgroup-v2.rst "CPU", sched-bwc.rst, cpusets.rst: a group's processors are a
///          subset of its parent's, in v1 as written.
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
  /// `memory` is the path of the saved settings; an earlier agent's changes are restored from it.
  /// Fails with `unavailable` if it cannot be written, and with `corrupt` if it is not ours.
  static Result<Limits> open(std::string memory);

  /// Holds these, and no others. `there` are the jobs of this node. Gives why some cannot be held.
  std::map<manager::JobNumber, std::string> hold(const std::vector<Limit>& wanted,
                                                 const std::vector<JobGroups>& there);
  /// Lets all go.
  void lift_all();
  /// Returns the cores that a job is limited to; nothing if it has Slurm's setting.
  std::optional<double> of(manager::JobNumber job) const;
  /// Returns the processors that Slurm allows a job, regardless of our changes; nothing for any.
  std::optional<std::vector<int>> cpus_of(const JobGroups& job) const;
  bool none() const { return held_.empty(); }

  /// A file that we have changed.
  struct Change {
    std::string file{};
    std::string was{};
    std::string becomes{};
    std::string before{};  ///< Our last content; "" for none yet.
  };

 private:
  struct Held {
    std::optional<double> cores{};
    std::vector<Change> changes{};  // of a group's parts before the group
  };
  using All = std::map<manager::JobNumber, Held>;

  explicit Limits(std::string memory) : memory_(std::move(memory)) {}
  Result<void> remember() const;
  static Result<All> recall(const std::string& memory);
  /// Corrects whatever is not as required; returns "" on success.
  std::string hold_one(const JobGroups& job, double cores);
  static void lift(const Held& held);

  std::string memory_;
  All held_;
};

}  // namespace almanac::agent
