// SPDX-License-Identifier: Apache-2.0
#include "agent/job_groups.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

namespace almanac::agent {
namespace {

namespace fs = std::filesystem;
using manager::JobNumber;

/// Folders in a folder, by name; none where it cannot be read.
std::vector<fs::path> folders_in(const fs::path& path) {
  std::vector<fs::path> made;
  std::error_code error;
  for (fs::directory_iterator each(path, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code unknown;
    if (each->is_directory(unknown) && !each->is_symlink(unknown)) made.push_back(each->path());
  }
  std::sort(made.begin(), made.end());
  return made;
}

/// 12 of "job_12"; 0 = it is another name.
JobNumber job_of(const fs::path& folder) {
  constexpr std::string_view kPrefix = "job_";
  const std::string name = folder.filename().string();
  if (!name.starts_with(kPrefix)) return {};
  std::uint32_t number = 0;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), last, number);
  return error == std::errc() && end == last ? JobNumber{number} : JobNumber{};
}

using Found = std::map<JobNumber, JobGroups>;

void take_jobs(const fs::path& folder, std::string JobGroups::*which, Found& found) {
  for (const fs::path& each : folders_in(folder)) {
    const JobNumber job = job_of(each);
    if (job == JobNumber{}) continue;
    found[job].job = job;
    found[job].*which = each.string();
  }
}

bool lists(const std::string& words, const std::string& word) {
  std::istringstream all(words);
  for (std::string each; std::getline(all, each, ',');) {
    if (each == word) return true;
  }
  return false;
}

}  // namespace

Mounts find_mounts(const std::string& mountinfo) {
  Mounts made;
  // "36 35 98:0 /root /mount options - type source options"
  std::ifstream file(mountinfo);
  for (std::string line; std::getline(file, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::string skipped;
    std::string mount;
    std::istringstream(line) >> skipped >> skipped >> skipped >> skipped >> mount;
    std::string type;
    std::string options;
    std::istringstream(line.substr(dash + 3)) >> type >> skipped >> options;
    const auto take = [&](std::string& into) {
      if (into.empty()) into = mount;
    };
    if (type == "cgroup2") take(made.unified);
    if (type != "cgroup") continue;
    if (lists(options, "cpu")) take(made.cpu);
    if (lists(options, "cpuacct")) take(made.cpuacct);
    if (lists(options, "cpuset")) take(made.cpuset);
    if (lists(options, "freezer")) take(made.freezer);
  }
  return made;
}

std::vector<JobGroups> find_jobs(const Mounts& mounts, const std::string& node) {
  Found found;
  if (!mounts.unified.empty()) {
    const fs::path slice = fs::path(mounts.unified) / "system.slice";
    for (const std::string& scope : {std::string("slurmstepd.scope"), node + "_slurmstepd.scope"}) {
      take_jobs(slice / scope, &JobGroups::unified, found);
    }
  }
  constexpr std::pair<std::string Mounts::*, std::string JobGroups::*> kControllers[] = {
      {&Mounts::cpu, &JobGroups::cpu},
      {&Mounts::cpuacct, &JobGroups::cpuacct},
      {&Mounts::cpuset, &JobGroups::cpuset},
      {&Mounts::freezer, &JobGroups::freezer}};
  for (const auto& [mount, which] : kControllers) {
    if ((mounts.*mount).empty()) continue;
    for (const std::string& top : {std::string("slurm"), "slurm_" + node}) {
      for (const fs::path& user : folders_in(fs::path(mounts.*mount) / top)) {
        if (user.filename().string().starts_with("uid_")) take_jobs(user, which, found);
      }
    }
  }
  std::vector<JobGroups> made;
  for (auto& [job, groups] : found) made.push_back(std::move(groups));
  return made;
}

std::vector<std::string> groups_below(const std::string& folder) {
  std::vector<std::string> made{folder};
  for (std::size_t at = 0; at < made.size(); ++at) {
    for (const fs::path& each : folders_in(made[at])) made.push_back(each.string());
  }
  return made;
}

std::vector<pid_t> processes_of(const JobGroups& job) {
  // Whichever hierarchy knows of them: in v1 each step is in all that Slurm uses.
  for (const std::string* folder :
       {&job.unified, &job.freezer, &job.cpuset, &job.cpuacct, &job.cpu}) {
    if (folder->empty()) continue;
    std::vector<pid_t> made;
    for (const std::string& group : groups_below(*folder)) {
      std::ifstream file(group + "/cgroup.procs");
      for (pid_t process = 0; file >> process;) made.push_back(process);
    }
    if (!made.empty()) return made;
  }
  return {};
}

}  // namespace almanac::agent
