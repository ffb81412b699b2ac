// SPDX-License-Identifier: Apache-2.0
#include "service/lock.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace almanac::service {
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

constexpr mode_t kOwnersOnly = 0600;

tl::unexpected<Error> of_another(const std::string& path, uid_t owner) {
  return fail(Code::invalid,
              fmt::format("it belongs to user {}, but Almanac runs as user {}", owner, ::geteuid()),
              {.file = path}, "remove it, and check who may write to its folder");
}

/// A folder of ours to which no other user may write, made where it is missing.
Result<void> make_own_folder(const std::string& path) {
  constexpr mode_t kAllMayLook = 0755;
  if (::mkdir(path.c_str(), kAllMayLook) != 0 && errno != EEXIST) {
    return fail(Code::unavailable, std::strerror(errno), {.file = path});
  }
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) {
    return fail(Code::unavailable, std::strerror(errno), {.file = path});
  }
  if (about.st_uid != ::geteuid()) return of_another(path, about.st_uid);
  if (!S_ISDIR(about.st_mode) || (about.st_mode & 022) != 0) {
    return fail(Code::invalid, "expected a folder that only its owner can write to", {.file = path},
                "chmod 755 it, or remove it");
  }
  return {};
}

/// Opens a file of ours that no other user can open, made where it is missing.
Result<process::Descriptor> open_own(const std::string& path) {
  constexpr int kHow = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
  process::Descriptor file(::open(path.c_str(), kHow, kOwnersOnly));
  struct stat about {};
  if (!file || ::fstat(file.get(), &about) != 0) {
    if (errno == ELOOP) {
      return fail(Code::invalid, "it is a symbolic link", {.file = path},
                  "remove it, and check who may write to its folder");
    }
    return fail(Code::unavailable, std::strerror(errno), {.file = path});
  }
  if (about.st_uid != ::geteuid()) return of_another(path, about.st_uid);
  // One that is older may let all users open it.
  if ((about.st_mode & 077) != 0 && ::fchmod(file.get(), kOwnersOnly) != 0) {
    return fail(Code::unavailable, std::strerror(errno), {.file = path});
  }
  return file;
}

}  // namespace

std::optional<bool> Lock::is_held(const std::string& path) {
  const process::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return errno == ENOENT ? std::optional(false) : std::nullopt;
  return !is_taken(file.get(), LOCK_SH);
}

Result<Lock> Lock::take(const std::string& path, const std::string& what) {
  auto file = open_own(path);
  if (!file) return tl::unexpected(file.error());
  if (!is_taken(file->get(), LOCK_EX)) {
    const std::string holder = first_line(file->get());
    return fail(Code::conflict,
                fmt::format("another almanac process uses {}{}", what,
                            holder.empty() ? "" : fmt::format(", process {}", holder)),
                {.file = path}, "stop that process first");
  }
  const std::string own = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file->get(), 0) != 0 ||
      ::pwrite(file->get(), own.data(), own.size(), 0) != static_cast<ssize_t>(own.size())) {
    return fail(Code::unavailable, std::strerror(errno), {.file = path});
  }
  return Lock(std::move(*file));
}

Result<Lock> Lock::briefly(const std::string& folder) {
  const std::string path = folder + "/changes.lock";
  auto file = open_own(path);
  if (!file) return tl::unexpected(file.error());
  if (!is_taken(file->get(), LOCK_EX, kForASecond)) {
    return fail(Code::conflict, "another process holds the lock of this folder", {.file = path},
                "try again; `fuser` names the processes that have it open");
  }
  return Lock(std::move(*file));
}

Result<Lock> Lock::of_cluster(const std::string& cluster, const std::string& controller) {
  const uid_t user = ::geteuid();
  const std::string folder = user == 0 ? "/run/almanac" : fmt::format("/tmp/almanac-{}", user);
  if (const auto made = make_own_folder(folder); !made) return tl::unexpected(made.error());
  std::string name = fmt::format("slurm-{}-{}", cluster, controller);
  for (char& each : name) {
    if (each == '/' || each == ' ') each = '_';
  }
  return take(fmt::format("{}/{}.lock", folder, name), fmt::format("the Slurm {}", cluster));
}

}  // namespace almanac::service
