// SPDX-License-Identifier: Apache-2.0

/// \file
/// The route of a job's log, from any byte on.
///
/// A log is a file that its user may have put anywhere, and a service that runs as root could read
/// every file. So it opens the log with the rights of the job's user, and reads it only if it is a
/// plain file that the user owns, or /dev/null, whose log is empty. The answer has nothing that the
/// user could not read without it.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "process/as_user.h"
#include "process/descriptor.h"
#include "serve/answers.h"
#include "serve/api.h"
#include "serve/query.h"

namespace almanac::serve {
namespace {

constexpr std::int64_t kMostBytes = 1 << 20;

/// A job that discards its output has an empty log: /dev/null is device 1,3 (Linux' devices.txt).
bool is_null_device(const struct stat& file) {
  return S_ISCHR(file.st_mode) && file.st_rdev == makedev(1, 3);
}

/// Whether the user of `uid` can be shown the file because it is theirs. A service that is not
/// root's runs every job as itself, and can read nothing that they could not.
bool is_of(const struct stat& file, std::uint32_t uid) {
  if (is_null_device(file)) return true;
  return S_ISREG(file.st_mode) && (::geteuid() != 0 || file.st_uid == uid);
}

struct Opened {
  process::Descriptor file{};
  int error = 0;
  bool is_user = true;  // whether we could take on the user's rights
};

Opened open_as(const process::User& user, const std::string& path) {
  const process::AsUser as_user(user);
  if (!as_user.holds()) return {.is_user = false};
  constexpr int kHow = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  process::Descriptor file(::open(path.c_str(), kHow));
  const int error = file ? 0 : errno;
  return {.file = std::move(file), .error = error};
}

/// Whether the user may not open the file, or it is no plain one.
bool is_refusal(int error) {
  return error == EACCES || error == EPERM || error == ELOOP || error == ENXIO || error == ENODEV;
}

}  // namespace

void Api::add_log() {
  on("GET", "/v1/jobs/{number}/log",
     [this](const Ask& ask, const std::string& part) { return log(ask, part); });
}

Answer Api::log(const Ask& ask, const std::string& part) const {
  const auto known = knows(ask, {"stream", "offset", "limit"});
  const auto offset = whole(ask, "offset", 0);
  const auto limit = whole(ask, "limit", 1 << 16);
  const std::string stream = word(ask, "stream");
  if (!known) return problem(known.error());
  if (!offset) return problem(offset.error());
  if (!limit) return problem(limit.error());
  if (!stream.empty() && stream != "out" && stream != "err") {
    return problem(400, fmt::format("stream must be out or err, not {}", stream));
  }
  const auto found = find_job(service_, part);
  if (!found) return problem(found.error());
  if (auto refused = guard_.refuses_log(ask, found->job.asked->uid)) return *std::move(refused);
  const auto path = service_.log_path(found->job.number, stream == "err");
  if (!path) return problem(path.error());

  Answer answer{.type = "text/plain; charset=utf-8"};
  const store::Submission& asked = found->job.asked;
  const Opened opened = open_as({.uid = asked.uid, .gid = asked.gid}, *path);
  const process::Descriptor& file = opened.file;
  if (!opened.is_user) {
    return problem({.code = Code::unavailable,
                    .message = fmt::format("cannot switch to user {}", asked.uid),
                    .where = {.file = *path}});
  }
  if (opened.error != 0 && opened.error != ENOENT && !is_refusal(opened.error)) {
    return problem({.code = Code::unavailable,
                    .message = std::strerror(opened.error),
                    .where = {.file = *path}});
  }
  struct stat about {};
  const bool is_theirs =
      file && ::fstat(file.get(), &about) == 0 && is_of(about, found->job.asked->uid);
  if (opened.error != ENOENT && !is_theirs) {
    return problem(403, fmt::format("{} is not a regular file of {}", *path, asked.user));
  }
  // What is not there yet is empty; from the end on when the offset is negative.
  const std::int64_t size = file ? about.st_size : 0;
  const std::int64_t from =
      *offset < 0 ? std::max<std::int64_t>(0, size + *offset) : std::min(*offset, size);
  answer.body.resize(static_cast<std::size_t>(
      std::min({size - from, kMostBytes, std::max<std::int64_t>(*limit, 0)})));
  const ssize_t got = file ? ::pread(file.get(), answer.body.data(), answer.body.size(), from) : 0;
  if (got < 0) {
    return problem(
        {.code = Code::unavailable, .message = std::strerror(errno), .where = {.file = *path}});
  }
  answer.body.resize(static_cast<std::size_t>(got));
  answer.headers.emplace_back("X-Next-Offset", std::to_string(from + got));
  answer.headers.emplace_back("X-Log-Size", std::to_string(size));
  protect(answer);
  return answer;
}

}  // namespace almanac::serve
