// SPDX-License-Identifier: Apache-2.0
#include "process/cgroup.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

namespace almanac::process {
namespace {

namespace fs = std::filesystem;

constexpr double kMegabyte = 1024.0 * 1024;
constexpr double kGigabyte = 1024 * kMegabyte;
constexpr int kPeriodUs = 100'000;
/// The group within.
constexpr const char* kWithin = "/processes";

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool write(const std::string& path, const std::string& text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool lists(const std::string& text, const std::string& word) {
  std::istringstream words(text);
  for (std::string each; words >> each;) {
    if (each == word) return true;
  }
  return false;
}

std::vector<std::string> controllers_of(const CgroupLimits& limits) {
  std::vector<std::string> needed;
  if (limits.cpus) needed.emplace_back("cpu");
  // Whose pages are written to a disk later, the kernel knows by their memory only.
  if (limits.memory_gb || limits.io_mbs) needed.emplace_back("memory");
  if (limits.io_mbs) needed.emplace_back("io");
  return needed;
}

/// Whether processes live in a group itself. The kernel shares nothing out below such a group: what
/// is made there with cpu.max holds no process. The root, which has no type, is free of that rule.
bool is_inhabited(const std::string& folder) {
  return !read(folder + "/cgroup.type").empty() && !read(folder + "/cgroup.procs").empty();
}

/// Whether groups made in `folder` have the controllers; switches them on where that is allowed.
bool offers(const std::string& folder, const std::vector<std::string>& controllers) {
  for (const std::string& controller : controllers) {
    if (lists(read(folder + "/cgroup.subtree_control"), controller)) continue;
    if (!lists(read(folder + "/cgroup.controllers"), controller)) return false;
    if (!write(folder + "/cgroup.subtree_control", "+" + controller)) return false;
  }
  return true;
}

/// "8:0" of each disk of the machine: whole ones, as io.max wants them, and those made of others.
std::vector<std::string> disks() {
  std::vector<std::string> made;
  std::error_code error;
  for (const auto& each : fs::directory_iterator("/sys/block", error)) {
    const std::string folder = each.path().string();
    std::istringstream sectors(read(folder + "/size"));
    std::int64_t size = 0;
    if (!(sectors >> size) || size == 0) continue;       // a drive without a medium
    if (lists(read(folder + "/hidden"), "1")) continue;  // a path of a disk that has several
    std::string number;
    if (std::istringstream(read(folder + "/dev")) >> number) made.push_back(number);
  }
  return made;
}

}  // namespace

CgroupTree cgroup_tree() {
  CgroupTree tree;
  // proc_pid_mountinfo(5): "36 35 98:0 /root /mount options - type source options".
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; tree.mount.empty() && std::getline(mounts, line);) {
    if (line.find(" - cgroup2 ") == std::string::npos) continue;
    std::istringstream fields(line);
    std::string skipped;
    fields >> skipped >> skipped >> skipped >> skipped >> tree.mount;
  }
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::")) tree.own = line.substr(3);
  }
  return tree;
}

Result<Cgroup> Cgroup::create(const CgroupTree& tree, const std::string& name,
                              const CgroupLimits& limits) {
  if (tree.mount.empty()) return fail(Code::unsupported, "cgroup v2 is not mounted");
  const std::vector<std::string> controllers = controllers_of(limits);
  std::string why;
  for (fs::path group = tree.own.empty() ? "/" : tree.own;; group = group.parent_path()) {
    const std::string folder = group == "/" ? tree.mount : tree.mount + group.string();
    const std::string path = folder + "/" + name;
    if (!controllers.empty() && is_inhabited(folder)) {
      why = fmt::format("{} has processes of its own, so no limits can be set below it", folder);
    } else if (!offers(folder, controllers)) {
      why = fmt::format("{} does not offer control of {}", folder, fmt::join(controllers, ", "));
    } else if (::mkdir(path.c_str(), 0755) != 0) {
      why = fmt::format("cannot create a group in {}: {}", folder, std::strerror(errno));
    } else {
      Cgroup made(path, Descriptor());
      if (made.set(limits) && offers(path, controllers) &&
          ::mkdir((path + kWithin).c_str(), 0755) == 0) {
        const std::string procs = path + kWithin + "/cgroup.procs";
        made.procs_ = Descriptor(::open(procs.c_str(), O_WRONLY | O_CLOEXEC));
        if (made.procs_) return made;
      }
      why = fmt::format("cannot set limits in {}: {}", path, std::strerror(errno));
    }
    if (!group.has_relative_path()) break;
  }
  return fail(Code::unsupported, "cgroup v2: " + why, {},
              "run as root, or under systemd-run --user --scope -p Delegate=yes");
}

bool Cgroup::set(const CgroupLimits& limits) {
  if (limits.cpus) {
    // The kernel refuses less than a millisecond.
    constexpr std::int64_t kLeastUs = 1000;
    const auto quota = std::max<std::int64_t>(kLeastUs, std::llround(*limits.cpus * kPeriodUs));
    if (!write(path_ + "/cpu.max", fmt::format("{} {}", quota, kPeriodUs))) return false;
  }
  if (limits.memory_gb) {
    const auto bytes = static_cast<std::int64_t>(std::llround(*limits.memory_gb * kGigabyte));
    if (!write(path_ + "/memory.max", std::to_string(bytes))) return false;
    // Without this the kernel would swap rather than tell. Kernels without swap have no such file.
    write(path_ + "/memory.swap.max", "0");
    // A job that lost one process might continue without it, or hang. Since Linux 4.19.
    write(path_ + "/memory.oom.group", "1");
  }
  if (limits.io_mbs) {
    const std::int64_t rate = std::max<std::int64_t>(1, std::llround(*limits.io_mbs * kMegabyte));
    const std::vector<std::string> all = disks();
    if (all.empty()) return false;  // in a container that is not shown them
    for (const std::string& disk : all) {
      const std::string line = fmt::format("{} rbps={} wbps={}", disk, rate, rate);
      if (!write(path_ + "/io.max", line)) return false;
    }
  }
  return true;
}

void Cgroup::kill() { write(path_ + "/cgroup.kill", "1"); }

std::optional<double> Cgroup::peak_memory_gb() const {
  std::istringstream text(read(path_ + "/memory.peak"));
  double bytes = 0;
  if (!(text >> bytes)) return std::nullopt;
  return bytes / kGigabyte;
}

int Cgroup::out_of_memory() const {
  std::istringstream lines(read(path_ + "/memory.events"));
  std::string key;
  for (int count = 0; lines >> key >> count;) {
    if (key == "oom_kill") return count;
  }
  return 0;
}

void Cgroup::remove() {
  if (path_.empty()) return;
  kill();
  for (const std::string& folder : {path_ + kWithin, path_}) {
    // A killed process leaves its group a moment later.
    for (int tries = 0; ::rmdir(folder.c_str()) != 0 && errno == EBUSY && tries < 500; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  path_.clear();
}

bool Cgroup::end(const std::string& path) {
  write(path + "/cgroup.kill", "1");
  ::rmdir((path + kWithin).c_str());
  return ::rmdir(path.c_str()) == 0 || errno == ENOENT;
}

void Cgroup::sweep(const CgroupTree& tree, const std::string& prefix) {
  if (tree.mount.empty()) return;
  for (fs::path group = tree.own.empty() ? "/" : tree.own;; group = group.parent_path()) {
    const std::string folder = group == "/" ? tree.mount : tree.mount + group.string();
    std::error_code error;
    for (const auto& each : fs::directory_iterator(folder, error)) {
      const std::string name = each.path().filename().string();
      const std::size_t dash = name.rfind('-');
      if (!name.starts_with(prefix) || dash == std::string::npos) continue;
      pid_t maker = 0;
      if (!(std::istringstream(name.substr(dash + 1)) >> maker) || maker <= 0) continue;
      if (::kill(maker, 0) == 0 || errno != ESRCH) continue;
      // The kernel removes none in which a process lives.
      ::rmdir((each.path().string() + kWithin).c_str());
      ::rmdir(each.path().c_str());
    }
    if (!group.has_relative_path()) break;
  }
}

Cgroup::Cgroup(Cgroup&& other) noexcept
    : path_(std::exchange(other.path_, {})), procs_(std::move(other.procs_)) {}

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
    procs_ = std::move(other.procs_);
  }
  return *this;
}

Cgroup::~Cgroup() { remove(); }

}  // namespace almanac::process
