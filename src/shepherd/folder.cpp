// SPDX-License-Identifier: Apache-2.0
#include "shepherd/folder.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace almanac::shepherd {
namespace {

constexpr const char* kInTheMaking = ".new";

tl::unexpected<Error> cannot_write(const std::string& path, int number) {
  return fail(Code::unavailable, fmt::format("cannot write {}: {}", path, std::strerror(number)));
}

bool write_all(int file, std::string_view content) {
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t wrote =
        ::pwrite(file, content.data() + done, content.size() - done, static_cast<off_t>(done));
    if (wrote < 0 && errno != EINTR) return false;
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  return ::ftruncate(file, static_cast<off_t>(content.size())) == 0;
}

}  // namespace

There is_there(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) return There::present;
  return errno == ENOENT ? There::absent : There::unreadable;
}

Result<std::string> read_file(const std::string& path) {
  const auto cannot_read = [&](int number) {
    return fail(number == ENOENT ? Code::not_found : Code::unavailable,
                fmt::format("cannot read {}: {}", path, std::strerror(number)));
  };
  const process::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return cannot_read(errno);
  std::string content;
  std::array<char, 1 << 14> block;
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got == 0) return content;
    if (got < 0 && errno != EINTR) return cannot_read(errno);
    if (got > 0) content.append(block.data(), static_cast<std::size_t>(got));
  }
}

Result<void> sync_folder(const std::string& path) {
  const process::Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) return cannot_write(path, errno);
  return {};
}

Result<NewFile> NewFile::create(const std::string& path, std::size_t reserve) {
  NewFile made;
  made.path_ = path;
  const std::string beside = path + kInTheMaking;
  made.file_ =
      process::Descriptor(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!made.file_) return cannot_write(path, errno);
  if (reserve > 0) {
    const int number = ::posix_fallocate(made.file_.get(), 0, static_cast<off_t>(reserve));
    if (number != 0) return cannot_write(path, number);
  }
  return made;
}

Result<void> NewFile::commit(std::string_view content) {
  // A file that has a new name may else be gone after a power cut.
  return put(content, true).and_then([&] {
    return sync_folder(std::filesystem::path(path_).parent_path());
  });
}

Result<void> NewFile::put(std::string_view content, bool sync) {
  if (!write_all(file_.get(), content) || (sync && ::fsync(file_.get()) != 0) ||
      ::rename((path_ + kInTheMaking).c_str(), path_.c_str()) != 0) {
    return cannot_write(path_, errno);
  }
  return {};
}

Result<void> write_file(const std::string& path, std::string_view content) {
  return NewFile::create(path).and_then([&](NewFile&& file) { return file.put(content, false); });
}

Result<void> write_public_file(const std::string& path, std::string_view content) {
  return NewFile::create(path).and_then([&](NewFile&& file) -> Result<void> {
    if (::fchmod(file.file_.get(), 0644) != 0) return cannot_write(path, errno);
    return file.put(content, false);
  });
}

}  // namespace almanac::shepherd
