// SPDX-License-Identifier: Apache-2.0

/// \file
/// Opens files with the rights of another user.
#pragma once

#include <vector>

#include "process/user.h"

namespace almanac::process {

/// The calling thread opens files as `user` as long as this lives; its other threads, and what it
/// may do but open files, stay as they are. Nothing changes where we are not root, or the user is.
///
/// Needed because a path that a user names is theirs to choose: to look at it as root already tells
/// whether it is there, and opening a device may do something.
///
/// Cost: four system calls, and one look into the databases of users and groups.
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
