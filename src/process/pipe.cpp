// SPDX-License-Identifier: Apache-2.0
#include "process/pipe.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>

namespace almanac::process {

Result<Pipe> Pipe::create() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(Code::unavailable, fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  }
  Pipe made{.read = Descriptor(ends[0]), .write = Descriptor(ends[1])};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return made;
}

bool read_available(const Descriptor& from, std::string& text) {
  std::array<char, 1 << 16> block;
  // Bounded, so that a process that writes without end does not keep its reader from all else.
  for (int blocks = 0; blocks < 16; ++blocks) {
    const ssize_t got = ::read(from.get(), block.data(), block.size());
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace almanac::process
