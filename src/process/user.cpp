// SPDX-License-Identifier: Apache-2.0
#include "process/user.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

namespace almanac::process {

Result<std::vector<gid_t>> groups_of(const User& user) {
  std::array<char, 16 * 1024> names;
  passwd entry{};
  passwd* found = nullptr;
  const int status = ::getpwuid_r(user.uid, &entry, names.data(), names.size(), &found);
  // getpwuid_r(3) lists the last two among what it says of a user that is not there.
  if (found == nullptr && (status == 0 || status == ENOENT || status == ESRCH)) {
    return fail(Code::not_found, fmt::format("the system has no user {}", user.uid));
  }
  if (found == nullptr) {
    return fail(Code::unavailable, fmt::format("cannot ask the system for user {}: {}", user.uid,
                                               std::strerror(status)));
  }
  std::vector<gid_t> groups(64);
  int count = static_cast<int>(groups.size());
  if (::getgrouplist(entry.pw_name, user.gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
    if (::getgrouplist(entry.pw_name, user.gid, groups.data(), &count) < 0) {
      return fail(Code::unavailable, fmt::format("the groups of user {} are changing", user.uid));
    }
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

}  // namespace almanac::process
