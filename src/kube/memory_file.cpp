// SPDX-License-Identifier: Apache-2.0
#include "kube/memory_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace almanac::kube {

MemoryFile::MemoryFile(std::string_view content) {
  if (content.empty()) return;
  file_ = process::Descriptor(::memfd_create("almanac", MFD_CLOEXEC));
  while (!content.empty()) {
    const ssize_t written = ::write(file_.get(), content.data(), content.size());
    // The library that reads a file refuses one without its end.
    if (written <= 0) return;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string MemoryFile::path() const {
  return file_.get() < 0 ? "" : fmt::format("/proc/self/fd/{}", file_.get());
}

}  // namespace almanac::kube
