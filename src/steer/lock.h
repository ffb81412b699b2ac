// SPDX-License-Identifier: Apache-2.0

/// \file
/// One Almanac at a time: on a state folder, and on a Slurm of this host.
///
/// To open a file is enough to lock it, so only its owner may open a lock: no other user can keep a
/// service from starting, or an undo from being carried out.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "process/descriptor.h"

namespace almanac::steer {

/// Held until it is destroyed, or its process is dead however it died.
class Lock {
 public:
  /// `what` names the thing that is locked, for the message where it is taken: "the folder
  /// /var/lib/almanac". Fails with conflict where it is taken, with unavailable where the file
  /// cannot be made, and with invalid where it is a link or another user's.
  static Result<Lock> take(const std::string& path, const std::string& what);
  /// The lock of a Slurm, for all processes of this user on this host: in /run/almanac for root,
  /// else in a folder of the user's in /tmp. Fails as take() does, and where that folder is another
  /// user's.
  static Result<Lock> of_cluster(const std::string& cluster, const std::string& controller);
  /// Locks a folder for as long as it takes to read, change and write one of its small files. Waits
  /// for a second; fails with conflict then, and as take() does.
  static Result<Lock> briefly(const std::string& folder);
  /// Whether a process holds it now; false, too, where there is none. Nothing = the caller may not
  /// look.
  static std::optional<bool> is_held(const std::string& path);

 private:
  explicit Lock(process::Descriptor file) : file_(std::move(file)) {}
  process::Descriptor file_;
};

/// Where the lock of a state folder lies.
inline std::string lock_of_folder(const std::string& state) { return state + "/lock"; }

}  // namespace almanac::steer
