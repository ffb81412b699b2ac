// SPDX-License-Identifier: Apache-2.0

/// \file
/// The memory traffic of processes, from the processor's own counters (Intel MBM, AMD QoS), if the
/// file system resctrl is mounted. Only root can create groups there.
///
/// The groups of all programs on a machine are in one folder; ours are called "almanac-NAME@OWNER".
///
/// Limits   a processor counts some dozens to hundreds of groups at once, and refuses more.
/// Source   Linux, Documentation/arch/x86/resctrl.rst.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>

#include <sys/types.h>

#include "base/result.h"

namespace almanac::process {

class MemoryTraffic {
 public:
  /// `owner` distinguishes the groups of one service from those of another on this machine. It
  /// stays the same across restarts, so that groups created earlier are found again. It contains no
  /// "/". Fails with `unsupported`, naming what the machine lacks.
  static Result<MemoryTraffic> open(const std::string& owner,
                                    const std::string& mount = "/sys/fs/resctrl");

  /// Counts `processes`, and whatever they start from now on, in the group `name`, which is created
  /// if needed; skips processes that have ended.
  Result<void> follow(const std::string& name, std::span<const pid_t> processes);
  /// Returns the gigabytes (10^9 bytes) that a group has moved, from an arbitrary origin; nothing
  /// if the processor gives no value now.
  std::optional<double> moved_gb(const std::string& name) const;
  /// Same for the whole machine.
  std::optional<double> moved_gb() const;
  /// Removes the groups of this owner whose names are not among these.
  void keep_only(const std::set<std::string>& names);

 private:
  MemoryTraffic(const std::string& owner, std::string mount)
      : suffix_("@" + owner), mount_(std::move(mount)) {}
  std::string folder_of(const std::string& name) const;

  std::string suffix_;  // of the groups' names
  std::string mount_;
};

}  // namespace almanac::process
