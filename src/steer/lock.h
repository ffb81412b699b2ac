// SPDX-License-Identifier: Apache-2.0

/// \file
/// One Almanac at a time: on a state folder, and on a Slurm of this host.
#pragma once

#include <string>

#include "base/result.h"
#include "process/descriptor.h"

namespace almanac::steer {

/// Held until it is destroyed, or its process is dead however it died.
class Lock {
 public:
  /// `what` names the thing that is locked, for the message where it is taken: "the folder
  /// /var/lib/almanac". Fails with conflict where it is taken, and with unavailable where the file
  /// cannot be made.
  static Result<Lock> take(const std::string& path, const std::string& what);
  /// Locks a folder itself, for as long as it takes to read, change and write one of its small
  /// files. A process that may read the folder may have it, and no file is left behind. Waits for a
  /// second; fails with conflict then, and with unavailable where there is no such folder.
  static Result<Lock> briefly(const std::string& folder);
  /// Whether a process holds it now; false, too, where the file cannot be read or there is none.
  static bool is_held(const std::string& path);

 private:
  explicit Lock(process::Descriptor file) : file_(std::move(file)) {}
  process::Descriptor file_;
};

/// Where the lock of a state folder lies.
inline std::string lock_of_folder(const std::string& state) { return state + "/lock"; }
/// Where the lock of a Slurm lies: the same for all processes on this host that mean this cluster.
std::string lock_of_cluster(const std::string& cluster, const std::string& controller);

}  // namespace almanac::steer
