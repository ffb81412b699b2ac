// SPDX-License-Identifier: Apache-2.0
#include "agent/keys.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/descriptor.h"

namespace almanac::agent {
namespace {

std::string list_of(const std::string& path) { return path + ".revoked"; }

/// When the list was changed last; 0 = there is none.
Result<std::int64_t> changed_at(const std::string& path) {
  struct stat state {};
  if (::stat(path.c_str(), &state) != 0) {
    if (errno == ENOENT) return 0;
    return fail(Code::unavailable, std::strerror(errno), {.file = path});
  }
  constexpr mode_t kOthersWrite = 022;
  if ((state.st_mode & kOthersWrite) != 0 || (state.st_uid != 0 && state.st_uid != ::geteuid())) {
    return fail(Code::invalid, "other users may write the list of revoked keys", {.file = path},
                "chmod 644 it; it is root's");
  }
  constexpr std::int64_t kNs = 1'000'000'000;
  return state.st_mtim.tv_sec * kNs + state.st_mtim.tv_nsec;
}

Result<std::map<std::string, std::uint64_t>> gone_in(const std::string& path) {
  std::map<std::string, std::uint64_t> made;
  std::ifstream file(path);
  std::string line;
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    if (!is_name(line)) {
      return fail(Code::invalid, "expected the name of a node", {.file = path, .line = number});
    }
    ++made[line];
  }
  return made;
}

}  // namespace

Result<Keys> Keys::read(const std::string& path) {
  auto secret = Secret::read(path);
  if (!secret) return tl::unexpected(secret.error());
  Keys made(std::move(*secret));
  made.list_ = list_of(path);
  const auto changed = changed_at(made.list_);
  if (!changed) return tl::unexpected(changed.error());
  auto gone = gone_in(made.list_);
  if (!gone) return tl::unexpected(gone.error());
  made.changed_ns_ = *changed;
  made.gone_ = std::move(*gone);
  return made;
}

std::uint64_t Keys::number(const std::string& node) const {
  const auto found = gone_.find(node);
  return found == gone_.end() ? 1 : found->second + 1;
}

Secret Keys::of(const std::string& node) const { return secret_.of_node(node, number(node)); }

void Keys::look() {
  if (list_.empty()) return;
  const auto changed = changed_at(list_);
  if (!changed || *changed == changed_ns_) return;
  auto gone = gone_in(list_);
  if (!gone) return;
  changed_ns_ = *changed;
  gone_ = std::move(*gone);
}

Result<void> Keys::revoke(const std::string& path, const std::string& node) {
  if (!is_name(node))
    return fail(Code::invalid, fmt::format("\"{}\" is not the name of a node", node));
  const std::string list = list_of(path);
  const process::Descriptor file(
      ::open(list.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
  const std::string line = node + '\n';
  if (!file || ::write(file.get(), line.data(), line.size()) != std::ssize(line) ||
      ::fsync(file.get()) != 0) {
    return fail(Code::unavailable, std::strerror(errno), {.file = list});
  }
  return {};
}

}  // namespace almanac::agent
