// SPDX-License-Identifier: Apache-2.0

/// \file
/// A folder that looks as Slurm's control groups do on a node, of v1 or v2, for tests that need no
/// Slurm and no rights. Files say what was written to them; nothing is held by that.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "agent/job_groups.h"
#include "support/temporary_folder.h"

namespace almanac::agent {

class MadeUpGroups {
 public:
  /// Cgroup v2, as Slurm 22.05 and later makes it.
  void add_v2(std::uint32_t job, const std::string& cpus = "0-15",
              const std::string& scope = "slurmstepd.scope") {
    const std::string group = v2(job, scope);
    put(group + "/cpu.max", "max 100000");
    put(group + "/cpuset.cpus", cpus);
    put(group + "/cpu.stat", "usage_usec 0\nuser_usec 0");
    put(group + "/cgroup.procs", "");
    put(group + "/step_0/user/task_0/cgroup.procs", "");
  }
  std::string v2(std::uint32_t job, const std::string& scope = "slurmstepd.scope") const {
    return at("unified/system.slice/" + scope + "/job_" + std::to_string(job));
  }

  /// Cgroup v1 with one step of its own processors; `timed`: there is a group for processor time.
  void add_v1(std::uint32_t job, const std::string& cpus = "0-15",
              const std::string& step_cpus = "0-15", bool timed = true) {
    const std::string set = v1("cpuset", job);
    put(set + "/cpuset.cpus", cpus);
    put(set + "/step_batch/cpuset.cpus", step_cpus);
    put(set + "/step_batch/cgroup.procs", "");
    if (!timed) return;
    put(v1("cpu", job) + "/cpu.cfs_quota_us", "-1");
    put(v1("cpu", job) + "/cpu.cfs_period_us", "100000");
    put(v1("cpuacct", job) + "/cpuacct.usage", "0");
  }
  std::string v1(const std::string& controller, std::uint32_t job) const {
    return at(controller + "/slurm/uid_1000/job_" + std::to_string(job));
  }

  /// As of a machine with both.
  Mounts mounts() const {
    return {.unified = at("unified"),
            .cpu = at("cpu"),
            .cpuacct = at("cpuacct"),
            .cpuset = at("cpuset"),
            .freezer = at("freezer")};
  }
  std::vector<JobGroups> jobs(const std::string& node = "n001") const {
    return find_jobs(mounts(), node);
  }

  std::string at(const std::string& path) const { return folder_ / path; }
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text << '\n';
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    return text;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace almanac::agent
