// SPDX-License-Identifier: Apache-2.0
#include "process/as_user.h"

#include <cstddef>

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.h"

namespace almanac::process {
namespace {

/// Sets the groups of this thread only: the C library's setgroups(2) changes all threads.
bool set_groups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

// Both give the former number, whether or not they did anything.
bool set_user(uid_t user) {
  ::setfsuid(user);
  return static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) == user;
}

bool set_group(gid_t group) {
  ::setfsgid(group);
  return static_cast<gid_t>(::setfsgid(static_cast<gid_t>(-1))) == group;
}

}  // namespace

AsUser::AsUser(const User& user) {
  if (::geteuid() != 0 || user.uid == 0) return;
  const int count = ::getgroups(0, nullptr);
  if (count < 0) {
    holds_ = false;
    return;
  }
  groups_.resize(static_cast<std::size_t>(count));
  holds_ = ::getgroups(count, groups_.data()) == count;
  if (!holds_) return;
  group_ = ::getegid();
  changes_ = true;
  // The user last: only root may change the others.
  holds_ = set_groups(groups_of(user).value_or(std::vector{user.gid})) && set_group(user.gid) &&
           set_user(user.uid);
}

AsUser::~AsUser() {
  if (!changes_) return;
  const bool is_root_again = set_user(0) && set_group(group_) && set_groups(groups_);
  ALMANAC_CHECK(is_root_again, "a thread that opened a file as a user cannot become root again");
}

}  // namespace almanac::process
