// SPDX-License-Identifier: Apache-2.0
#include "table/spool.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace almanac::table {
namespace {

Result<std::string> spool() {
  if (::isatty(STDIN_FILENO) != 0) {
    return fail(Code::usage, "standard input is a terminal: - reads the output of a command");
  }
  const char* const folder = std::getenv("TMPDIR");
  std::string name = fmt::format("{}/almanac-XXXXXX", folder == nullptr ? "/tmp" : folder);
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  const auto failed = [&] {
    return fail(Code::unavailable,
                fmt::format("standard input cannot be stored: {}", std::strerror(errno)), {name});
  };
  if (file < 0) return failed();
  ::unlink(name.c_str());
  std::vector<char> block(std::size_t{256} << 10);
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
    if (count == 0) return fmt::format("/proc/self/fd/{}", file);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed();
    for (ssize_t at = 0; at < count;) {
      const ssize_t put = ::write(file, block.data() + at, static_cast<std::size_t>(count - at));
      if (put < 0 && errno != EINTR) return failed();
      if (put > 0) at += put;
    }
  }
}

}  // namespace

Result<std::string> spool_standard_input() {
  static const Result<std::string> path = spool();
  return path;
}

}  // namespace almanac::table
