// SPDX-License-Identifier: Apache-2.0
#include "steer/lock.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

namespace almanac::steer {
namespace {

std::string first_line(int file) {
  std::string text(64, '\0');
  const ssize_t read = ::pread(file, text.data(), text.size(), 0);
  text.resize(read > 0 ? static_cast<std::size_t>(read) : 0);
  return text.substr(0, text.find('\n'));
}

constexpr useconds_t kInstant_us = 2'000;
/// A process that only looks whether it is held has it for an instant, in which none is to be
/// refused.
constexpr int kAFewTimes = 5;
constexpr int kForASecond = 500;

bool is_taken(int file, int kind, int times = kAFewTimes) {
  for (int time = 0; time < times; ++time) {
    if (::flock(file, kind | LOCK_NB) == 0) return true;
    ::usleep(kInstant_us);
  }
  return false;
}

}  // namespace

bool Lock::is_held(const std::string& path) {
  const process::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file && !is_taken(file.get(), LOCK_SH);
}

Result<Lock> Lock::take(const std::string& path, const std::string& what) {
  constexpr int kAllMayLook = 0644;
  process::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kAllMayLook));
  if (!file) return fail(Code::unavailable, std::strerror(errno), {.file = path});
  if (!is_taken(file.get(), LOCK_EX)) {
    const std::string holder = first_line(file.get());
    return fail(Code::conflict,
                fmt::format("another almanac has {}{}", what,
                            holder.empty() ? "" : fmt::format(", process {}", holder)),
                {.file = path}, "end that one first");
  }
  const std::string own = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file.get(), 0) != 0 ||
      ::pwrite(file.get(), own.data(), own.size(), 0) != static_cast<ssize_t>(own.size())) {
    return fail(Code::unavailable, std::strerror(errno), {.file = path});
  }
  return Lock(std::move(file));
}

Result<Lock> Lock::briefly(const std::string& folder) {
  process::Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file) return fail(Code::unavailable, std::strerror(errno), {.file = folder});
  if (!is_taken(file.get(), LOCK_EX, kForASecond)) {
    return fail(Code::conflict, "a process has kept this folder locked for a second",
                {.file = folder}, "try again; `fuser` names the processes that have it open");
  }
  return Lock(std::move(file));
}

std::string lock_of_cluster(const std::string& cluster, const std::string& controller) {
  const char* const folder = ::access("/run/lock", W_OK) == 0 ? "/run/lock" : "/tmp";
  std::string name = fmt::format("almanac-slurm-{}-{}", cluster, controller);
  for (char& each : name) {
    if (each == '/' || each == ' ') each = '_';
  }
  return fmt::format("{}/{}.lock", folder, name);
}

}  // namespace almanac::steer
