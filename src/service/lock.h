// SPDX-License-Identifier: Apache-2.0

/// \file
/// Locks: one Almanac process at a time on a state folder, and on a Slurm cluster from this host.
///
/// Any user who can open a file can lock it, so only its owner may open a lock file: no other can
/// block a service or an undo.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "process/descriptor.h"

namespace almanac::service {

/// Held until it is destroyed, or its process is dead.
class Lock {
 public:
  /// `what` names what is locked, for the error message: "the folder /var/lib/almanac". Fails with
  /// `conflict` if it is locked, with `unavailable` if the file cannot be created, and with
  /// `invalid` if it is a symbolic link or another user's.
  static Result<Lock> take(const std::string& path, const std::string& what);
  /// Takes the lock of a Slurm cluster, for all processes of this user on this host: in
  /// /run/almanac for root, otherwise in a folder of the user's in /tmp. Fails like take(), and if
  /// that folder is another user's.
  static Result<Lock> of_cluster(const std::string& cluster, const std::string& controller);
  /// Locks a folder for as long as it takes to read, change and write one of its small files. Waits
  /// for a second; fails with conflict then, and as take() does.
  static Result<Lock> briefly(const std::string& folder);
  /// Whether a process holds it now; false if there is no lock file. Nothing if the caller may not
  /// look.
  static std::optional<bool> is_held(const std::string& path);

 private:
  explicit Lock(process::Descriptor file) : file_(std::move(file)) {}
  process::Descriptor file_;
};

/// The path of the lock of a state folder.
inline std::string lock_of_folder(const std::string& state) { return state + "/lock"; }

}  // namespace almanac::service
