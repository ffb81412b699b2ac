// SPDX-License-Identifier: Apache-2.0
#include "process/open_files.h"

#include <algorithm>

#include <sys/resource.h>

namespace almanac::process {
namespace {

rlimit limits() {
  rlimit found{};
  ::getrlimit(RLIMIT_NOFILE, &found);
  return found;
}

}  // namespace

std::uint64_t most_open_files() { return limits().rlim_cur; }

std::uint64_t raise_open_files() {
  const rlimit before = limits();
  limit_open_files(before.rlim_max);
  return before.rlim_cur;
}

void limit_open_files(std::uint64_t most) {
  rlimit after = limits();
  after.rlim_cur = std::min<rlim_t>(most, after.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &after);
}

}  // namespace almanac::process
