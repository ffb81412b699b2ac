// SPDX-License-Identifier: Apache-2.0

/// \file
/// Opens files with the rights of another user.
#pragma once

#include <vector>

#include "process/user.h"

namespace almanac::process {

/// The calling thread opens files as `user` while this object lives. Other threads, and the
/// thread's other rights, are unaffected. Does nothing if we are not root, or if the user is.
///
/// Needed because users choose the paths that they name: looking at a path as root already reveals
/// whether it exists, and opening a device may have effects.
///
/// Cost: four system calls, and one lookup of user and groups.
class AsUser {
 public:
  explicit AsUser(const User& user);
  /// Aborts if it cannot become root again.
  ~AsUser();
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;

  /// Whether it is so. If not, nothing should be opened.
  bool holds() const { return holds_; }

 private:
  bool changes_ = false;
  bool holds_ = true;
  gid_t group_ = 0;            // before
  std::vector<gid_t> groups_;  // before
};

}  // namespace almanac::process
