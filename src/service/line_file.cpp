// SPDX-License-Identifier: Apache-2.0
#include "service/line_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace almanac::service {
namespace {

tl::unexpected<Error> no_line_file(const std::string& path) {
  return fail(Code::unavailable, std::strerror(errno), {.file = path});
}

/// A file that is new, or has a new name, may else be gone after a power cut.
Result<void> sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::absolute(path).parent_path();
  const process::Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || ::fsync(opened.get()) != 0) return no_line_file(folder);
  return {};
}

}  // namespace

Result<LineFile> LineFile::open(const std::string& path) {
  constexpr int kOwnersOnly = 0600;
  process::Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kOwnersOnly));
  if (!file) return no_line_file(path);
  std::int64_t size = ::lseek(file.get(), 0, SEEK_END);
  for (char last = '\n'; size > 0; --size) {
    if (::pread(file.get(), &last, 1, size - 1) != 1) return no_line_file(path);
    if (last == '\n') break;
  }
  if (::ftruncate(file.get(), size) != 0) return no_line_file(path);
  if (auto synced = sync_folder_of(path); !synced) return tl::unexpected(synced.error());
  return LineFile(path, std::move(file), size);
}

Result<void> LineFile::append(const std::string& lines) {
  // Half a line would hide the next one.
  if (has_half_line_ && ::ftruncate(file_.get(), size_) != 0) return no_line_file(path_);
  has_half_line_ = false;
  std::size_t at = 0;
  while (at < lines.size()) {
    const ssize_t wrote = ::write(file_.get(), lines.data() + at, lines.size() - at);
    if (wrote < 0 && errno != EINTR) break;
    at += static_cast<std::size_t>(std::max<ssize_t>(0, wrote));
  }
  if (at < lines.size() || ::fdatasync(file_.get()) != 0) {
    const auto failed = no_line_file(path_);
    has_half_line_ = ::ftruncate(file_.get(), size_) != 0;
    return failed;
  }
  size_ += static_cast<std::int64_t>(lines.size());
  return {};
}

Result<void> LineFile::begin_anew(const std::string& lines) {
  const std::string fresh = path_ + ".new";
  ::unlink(fresh.c_str());
  auto made = open(fresh);
  if (!made) return tl::unexpected(made.error());
  if (auto wrote = made->append(lines); !wrote) return wrote;
  // At every moment there is a journal under its name.
  const std::string old = path_ + ".old";
  ::unlink(old.c_str());
  if (::link(path_.c_str(), old.c_str()) != 0 || std::rename(fresh.c_str(), path_.c_str()) != 0) {
    return no_line_file(path_);
  }
  file_ = std::move(made->file_);
  size_ = made->size_;
  has_half_line_ = false;
  return sync_folder_of(path_);
}

}  // namespace almanac::service
