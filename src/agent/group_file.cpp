// SPDX-License-Identifier: Apache-2.0
#include "agent/group_file.h"

#include <array>

#include <fcntl.h>
#include <unistd.h>

#include "process/descriptor.h"

namespace almanac::agent {

std::optional<std::string> read_file(const std::string& path) {
  const process::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string made;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t size = ::read(file.get(), part.data(), part.size());
    if (size < 0) return std::nullopt;
    if (size == 0) break;
    made.append(part.data(), static_cast<std::size_t>(size));
  }
  while (!made.empty() && made.back() == '\n') made.pop_back();
  return made;
}

bool write_file(const std::string& path, const std::string& text) {
  const process::Descriptor file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace almanac::agent
