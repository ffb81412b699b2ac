// SPDX-License-Identifier: Apache-2.0

/// \file
/// A control group (cgroup v2) for a job: limits of cores, memory and disks, usage, kill.
///
/// Needs a writable part of the tree: root has one, others under `systemd-run --user --scope -p
/// Delegate=yes`. Cgroup v1 is not supported: its controllers are in separate trees, and cannot be
/// killed as one.
///
/// Source   Linux, Documentation/admin-guide/cgroup-v2.rst.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/descriptor.h"

namespace almanac::process {

/// Where groups can be created.
struct CgroupTree {
  std::string mount;  ///< Folder of the root group; "" if cgroup v2 is not mounted.
  std::string own;    ///< The group that we are in, from the root: "/user.slice/...".
};

/// The tree of this machine, from procfs.
CgroupTree cgroup_tree();

struct CgroupLimits {
  std::optional<double> cpus{};
  std::optional<double> memory_gb{};  ///< A process that wants more ends all of the group.
  /// MB (of 1024 KiB) a second that it may read from each disk of the machine, and write to it.
  std::optional<double> io_mbs{};

  bool operator==(const CgroupLimits&) const = default;
};

/// Limits are those of the group, its processes are in a group within. For the owner of the groups
/// above (systemd, when the last of its own there ends) takes the controllers back from groups that
/// use them themselves, limits and all, but cannot from one that shares them out.
///
/// Moves; the destructor kills what is left in it and removes it.
class Cgroup {
 public:
  /// Creates the group `name` under ours, or under an ancestor if the limits cannot be set there.
  /// Fails with `unsupported`, naming what the machine lacks.
  static Result<Cgroup> create(const CgroupTree& tree, const std::string& name,
                               const CgroupLimits& limits);
  /// Kills what is left in a group without an owner, and removes it; returns whether it is gone.
  /// Does not wait: call again while its processes die.
  static bool end(const std::string& path);
  /// Removes groups "PREFIX...-PID" that are empty and whose maker, process PID, is gone: it was
  /// killed before anybody knew of its group.
  static void sweep(const CgroupTree& tree, const std::string& prefix);
  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&& other) noexcept;
  ~Cgroup();

  const std::string& path() const { return path_; }
  /// cgroup.procs of the group within, open for writing.
  int procs() const { return procs_.get(); }
  /// Changes the limits that it has; false when the kernel refuses.
  bool set(const CgroupLimits& limits);
  /// Kills all that is in it, at once.
  void kill();
  /// Returns its peak memory; nothing if the kernel does not record it.
  std::optional<double> peak_memory_gb() const;
  /// Returns how often the kernel killed one of its processes for lack of memory.
  int out_of_memory() const;

 private:
  Cgroup(std::string path, Descriptor procs) : path_(std::move(path)), procs_(std::move(procs)) {}
  void remove();

  std::string path_;
  Descriptor procs_;
};

}  // namespace almanac::process
