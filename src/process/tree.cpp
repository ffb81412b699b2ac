// SPDX-License-Identifier: Apache-2.0
#include "process/tree.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include <dirent.h>
#include <unistd.h>

namespace almanac::process {
namespace {

/// PF_FORKNOEXEC of the kernel's include/linux/sched.h.
constexpr std::uint64_t kForkedOnly = 0x40;

constexpr double kGibibyte = 1024.0 * 1024 * 1024;

/// What proc_pid_stat(5) tells of a process.
struct Stat {
  char state = '?';
  pid_t parent = 0;
  bool executed = true;
  double cpu_s = 0;  ///< Its own and that of children it has waited for.
  std::int64_t birth = 0;
  double memory_gb = 0;
};

std::string content(pid_t process, const char* file) {
  std::ifstream from("/proc/" + std::to_string(process) + "/" + file);
  std::ostringstream text;
  text << from.rdbuf();
  return text.str();
}

bool read_stat(pid_t process, Stat& stat) {
  const std::string text = content(process, "stat");
  // The name of the program may hold anything; what follows its last ')' does not.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream fields(text.substr(name_end + 1));
  std::int64_t skipped = 0;
  std::int64_t parent = 0;
  fields >> stat.state >> parent;
  for (int at = 5; at <= 8; ++at) fields >> skipped;
  std::uint64_t flags = 0;
  fields >> flags;
  for (int at = 10; at <= 13; ++at) fields >> skipped;
  std::int64_t ticks = 0;
  for (int at = 14; at <= 17; ++at) {
    std::int64_t some = 0;
    fields >> some;
    ticks += some;
  }
  for (int at = 18; at <= 21; ++at) fields >> skipped;
  std::int64_t pages = 0;
  fields >> stat.birth >> skipped >> pages;
  stat.parent = static_cast<pid_t>(parent);
  stat.executed = (flags & kForkedOnly) == 0;
  stat.cpu_s = static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  stat.memory_gb =
      static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / kGibibyte;
  return !fields.fail();
}

std::map<pid_t, Stat> all_processes() {
  std::map<pid_t, Stat> all;
  for (const pid_t process : numbers_in("/proc")) {
    if (Stat stat; read_stat(process, stat)) all.emplace(process, stat);
  }
  return all;
}

std::vector<pid_t> below(const std::map<pid_t, Stat>& all, pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for (const auto& [process, stat] : all) children.emplace(stat.parent, process);
  std::vector<pid_t> found{root};
  for (std::size_t at = 0; at < found.size(); ++at) {
    const auto [begin, end] = children.equal_range(found[at]);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  std::erase_if(found, [&](pid_t process) { return all.at(process).state == 'Z'; });
  return found;
}

void add_disk(pid_t process, Usage& usage) {
  std::istringstream lines(content(process, "io"));
  std::string key;
  for (double bytes = 0; lines >> key >> bytes;) {
    if (key == "read_bytes:") usage.read_gb += bytes / kGibibyte;
    if (key == "write_bytes:") usage.written_gb += bytes / kGibibyte;
  }
}

}  // namespace

std::vector<pid_t> numbers_in(const std::string& path) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  while (folder != nullptr) {
    const dirent* const entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    const std::string_view name(entry->d_name);
    pid_t number = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    if (parsed.ec == std::errc{} && parsed.ptr == name.data() + name.size()) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

std::vector<pid_t> descendants(pid_t root) { return below(all_processes(), root); }

std::vector<Descendant> tree_below(pid_t root) {
  const std::map<pid_t, Stat> all = all_processes();
  std::vector<Descendant> found;
  for (const pid_t process : below(all, root)) {
    const Stat& stat = all.at(process);
    found.push_back({process, stat.parent, stat.executed});
  }
  return found;
}

Usage usage_of(pid_t root) {
  const std::map<pid_t, Stat> all = all_processes();
  Usage usage;
  if (const auto at = all.find(root); at != all.end()) {
    usage.cpu_s += at->second.cpu_s;
    add_disk(root, usage);
  }
  for (const pid_t process : below(all, root)) {
    const Stat& stat = all.at(process);
    usage.cpu_s += stat.cpu_s;
    usage.memory_gb += stat.memory_gb;
    ++usage.processes;
    add_disk(process, usage);
  }
  return usage;
}

double proportional_memory_gb(pid_t root) {
  const std::map<pid_t, Stat> all = all_processes();
  double sum = 0;
  for (const pid_t process : below(all, root)) {
    std::istringstream lines(content(process, "smaps_rollup"));
    double of_process = all.at(process).memory_gb;  // where the kernel does not tell
    for (std::string word; lines >> word;) {
      double kilobytes = 0;
      if (word == "Pss:" && lines >> kilobytes) {
        of_process = kilobytes * 1024 / kGibibyte;
        break;
      }
    }
    sum += of_process;
  }
  return sum;
}

std::optional<std::int64_t> birth_of(pid_t process) {
  Stat stat;
  if (!read_stat(process, stat)) return std::nullopt;
  return stat.birth;
}

}  // namespace almanac::process
