// SPDX-License-Identifier: Apache-2.0

/// \file
/// The limits of a run: cores, memory, disks and GPUs, held by a control group where the machine
/// lets us; else memory is watched from time to time, cores are held by affinity alone, disks not
/// at all, and which GPUs are its own the run is only told.
#pragma once

#include <optional>

#include "process/cgroup.h"
#include "shepherd/record.h"
#include "shepherd/run.h"

namespace almanac::shepherd {

class Bounds {
 public:
  explicit Bounds(const Spec& spec);

  /// nullptr = there is none.
  const process::Cgroup* group() const { return group_ ? &*group_ : nullptr; }
  /// By what the limits are held.
  Means means() const { return means_; }
  /// Holds all below this process to other limits. Of those that the group did not have from the
  /// start, only cores and watched memory can be set.
  void set(const Limits& limits);
  /// Whether memory() has to be asked from time to time.
  bool watches() const { return memory_gb_ && !held_.memory_gb; }
  /// Looks what all below use; whether it is too much.
  bool too_much();
  /// Whether the kernel killed one of them for want of memory.
  bool ran_out() const { return group_ && group_->out_of_memory() > 0; }
  /// The most that all used at once, as far as anybody looked.
  double peak_memory_gb() const;
  /// Kills at once, where there is a group.
  void kill() {
    if (group_) group_->kill();
  }

 private:
  std::optional<process::Cgroup> group_;
  process::CgroupLimits held_;  // by the group
  Means means_;
  std::optional<double> memory_gb_;
  double seen_gb_ = 0;
};

}  // namespace almanac::shepherd
