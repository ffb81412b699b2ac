// SPDX-License-Identifier: Apache-2.0
#include "process/memory_traffic.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/descriptor.h"
#include "process/tree.h"

namespace almanac::process {
namespace {

namespace fs = std::filesystem;

/// So that groups of others are not touched.
constexpr const char* kPrefix = "almanac-";
constexpr double kBytesPerGb = 1e9;

bool counts_all_traffic(const std::string& features) {
  std::ifstream file(features);
  for (std::string word; file >> word;) {
    if (word == "mbm_total_bytes") return true;
  }
  return false;
}

std::vector<fs::path> folders_in(const fs::path& path) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& each : fs::directory_iterator(path, error)) {
    if (each.is_directory(error)) found.push_back(each.path());
  }
  return found;
}

/// Returns the bytes of a group over all memory controllers ("mon_L3_00", ...). A counter that
/// cannot be read at the moment contains a word instead of a number.
std::optional<double> bytes_of(const fs::path& group) {
  double sum = 0;
  bool any = false;
  for (const fs::path& part : folders_in(group / "mon_data")) {
    std::ifstream file(part / "mbm_total_bytes");
    std::uint64_t bytes = 0;
    if (!file) continue;
    if (!(file >> bytes)) return std::nullopt;
    sum += static_cast<double>(bytes);
    any = true;
  }
  return any ? std::optional(sum) : std::nullopt;
}

}  // namespace

Result<MemoryTraffic> MemoryTraffic::open(const std::string& owner, const std::string& mount) {
  if (!counts_all_traffic(mount + "/info/L3_MON/mon_features")) {
    return fail(Code::unsupported,
                fmt::format("{} does not measure memory traffic: resctrl is not mounted, or the "
                            "processor does not support it",
                            mount),
                {}, "mount -t resctrl resctrl /sys/fs/resctrl, if the processor supports it");
  }
  if (::access((mount + "/mon_groups").c_str(), W_OK) != 0) {
    return fail(Code::unsupported,
                fmt::format("groups cannot be created in {}: {}", mount, std::strerror(errno)));
  }
  return MemoryTraffic(owner, mount);
}

std::string MemoryTraffic::folder_of(const std::string& name) const {
  return fmt::format("{}/mon_groups/{}{}{}", mount_, kPrefix, name, suffix_);
}

Result<void> MemoryTraffic::follow(const std::string& name, std::span<const pid_t> processes) {
  const std::string folder = folder_of(name);
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return fail(Code::unavailable,
                fmt::format("cannot create {}: {}", folder, std::strerror(errno)));
  }
  const Descriptor tasks(::open((folder + "/tasks").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!tasks) {
    return fail(Code::unavailable,
                fmt::format("cannot write {}/tasks: {}", folder, std::strerror(errno)));
  }
  for (const pid_t process : processes) {
    for (const pid_t thread : numbers_in(fmt::format("/proc/{}/task", process))) {
      const std::string line = fmt::format("{}\n", thread);
      static_cast<void>(::write(tasks.get(), line.data(), line.size()));  // it may have gone
    }
  }
  return {};
}

std::optional<double> MemoryTraffic::moved_gb(const std::string& name) const {
  const auto bytes = bytes_of(folder_of(name));
  return bytes ? std::optional(*bytes / kBytesPerGb) : std::nullopt;
}

std::optional<double> MemoryTraffic::moved_gb() const {
  // The root's count has its monitoring groups in it, but not other control groups.
  auto bytes = bytes_of(mount_);
  if (!bytes) return std::nullopt;
  for (const fs::path& group : folders_in(mount_)) {
    if (!fs::exists(group / "mon_data")) continue;
    const auto more = bytes_of(group);
    if (!more) return std::nullopt;
    *bytes += *more;
  }
  return *bytes / kBytesPerGb;
}

void MemoryTraffic::keep_only(const std::set<std::string>& names) {
  for (const fs::path& group : folders_in(mount_ + "/mon_groups")) {
    const std::string folder = group.filename().string();
    if (!folder.starts_with(kPrefix) || !folder.ends_with(suffix_)) continue;
    const std::size_t before = std::strlen(kPrefix);
    if (names.contains(folder.substr(before, folder.size() - before - suffix_.size()))) continue;
    ::rmdir(group.c_str());  // a process left in it counts to the root again
  }
}

}  // namespace almanac::process
