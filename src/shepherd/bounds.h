// SPDX-License-Identifier: Apache-2.0

/// \file
/// The limits of a run: cores, memory, disks and GPUs, enforced by a control group if the machine
/// allows it. Otherwise memory is polled, cores are enforced by affinity only, disks are not
/// limited, and the run is only informed of its GPUs.
#pragma once

#include <optional>

#include "process/cgroup.h"
#include "shepherd/record.h"
#include "shepherd/run.h"

namespace almanac::shepherd {

class Bounds {
 public:
  explicit Bounds(const Spec& spec);

  /// Returns null if there is none.
  const process::Cgroup* group() const { return group_ ? &*group_ : nullptr; }
  /// By what the limits are held.
  Means means() const { return means_; }
  /// Changes the limits of all processes below this one. Only cores and polled memory can be set if
  /// the group did not have the limit from the start.
  void set(const Limits& limits);
  /// Whether memory() must be called periodically.
  bool watches() const { return memory_gb_ && !held_.memory_gb; }
  /// Looks what all below use; whether it is too much.
  bool too_much();
  /// Whether the kernel killed a process for lack of memory.
  bool ran_out() const { return group_ && group_->out_of_memory() > 0; }
  /// Returns the peak memory of all processes together, as far as it was polled.
  double peak_memory_gb() const;
  /// Kills all processes at once, if there is a group.
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
