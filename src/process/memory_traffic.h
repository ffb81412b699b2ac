// SPDX-License-Identifier: Apache-2.0

/// \file
/// What processes move between processor and memory, by the processor's own counters (Intel MBM,
/// AMD QoS), where the file system resctrl is mounted. Only root may make groups there.
///
/// The groups of all programs on a machine lie in one folder: ours are "almanac-NAME@OWNER".
///
/// Limits   a processor counts some dozens to hundreds of groups at once; one more is refused.
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
  /// `owner` tells the groups of one service from those of another on this machine, and is the same
  /// when it begins anew: groups that it made earlier are still there. It has no "/". Fails with
  /// unsupported, and says what the machine lacks.
  static Result<MemoryTraffic> open(const std::string& owner,
                                    const std::string& mount = "/sys/fs/resctrl");

  /// Counts `processes`, and whatever they start from now on, in the group `name`, which is made if
  /// there is none; a process that has gone meanwhile is left out.
  Result<void> follow(const std::string& name, std::span<const pid_t> processes);
  /// Gigabytes (10^9 bytes) that a group has moved, counted from some beginning; nothing = the
  /// processor does not tell now.
  std::optional<double> moved_gb(const std::string& name) const;
  /// The same of all of the machine.
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
