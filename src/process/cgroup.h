// SPDX-License-Identifier: Apache-2.0

/// \file
/// A control group (cgroup v2) for a job: limits of cores, memory and disks, what it uses, kill.
///
/// Needs a part of the tree that is ours to write in: root has it, others under
/// `systemd-run --user --scope -p Delegate=yes`. Cgroup v1 is not used: its controllers lie in
/// trees of their own, and cannot be killed as one.
///
/// Source   Linux, Documentation/admin-guide/cgroup-v2.rst.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/descriptor.h"

namespace almanac::process {

/// Where groups can be made.
struct CgroupTree {
  std::string mount;  ///< The folder of the root group; "" = cgroup v2 is not mounted.
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
  /// Makes the group `name` under ours, or, where the limits cannot be set there, under one above.
  /// Fails with unsupported, and says what the machine lacks.
  static Result<Cgroup> create(const CgroupTree& tree, const std::string& name,
                               const CgroupLimits& limits);
  /// Kills what is left in one that has lost its owner, and removes it; whether it is gone. Does
  /// not wait: while something in it dies it is to be called again.
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
  /// The most memory that it used at once; nothing where the kernel does not count it.
  std::optional<double> peak_memory_gb() const;
  /// How often the kernel killed a process of it for want of memory.
  int out_of_memory() const;

 private:
  Cgroup(std::string path, Descriptor procs) : path_(std::move(path)), procs_(std::move(procs)) {}
  void remove();

  std::string path_;
  Descriptor procs_;
};

}  // namespace almanac::process
