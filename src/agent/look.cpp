// SPDX-License-Identifier: Apache-2.0
#include "agent/look.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/group_file.h"
#include "perf/stretch.h"
#include "process/descriptor.h"

namespace almanac::agent {
namespace {

using manager::JobNumber;

/// The number behind `key` in lines of "key number".
std::optional<double> value_of(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  std::string word;
  for (double value = 0; lines >> word >> value;) {
    if (word == key) return value;
  }
  return std::nullopt;
}

/// Processor time that the job has used; nothing = it is not counted.
std::optional<double> cpu_seconds(const JobGroups& job) {
  if (!job.unified.empty()) {
    const auto text = read_file(job.unified + "/cpu.stat");
    const auto us = text ? value_of(*text, "usage_usec") : std::nullopt;
    return us ? std::optional(*us / 1e6) : std::nullopt;
  }
  if (job.cpuacct.empty()) return std::nullopt;
  const auto text = read_file(job.cpuacct + "/cpuacct.usage");
  double ns = 0;
  if (!text || !(std::istringstream(*text) >> ns)) return std::nullopt;
  return ns / 1e9;
}

/// The users who run processes in the job.
std::set<uid_t> users_of(const JobGroups& job) {
  std::set<uid_t> made;
  for (const pid_t process : processes_of(job)) {
    struct stat state {};
    if (::stat(fmt::format("/proc/{}", process).c_str(), &state) == 0) made.insert(state.st_uid);
  }
  return made;
}

std::string name_of(JobNumber job) { return std::to_string(static_cast<std::uint32_t>(job)); }

}  // namespace

std::optional<double> pressure_in(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return std::nullopt;
  constexpr std::string_view kBefore = "some avg10=";
  const std::size_t at = text->find(kBefore);
  double percent = 0;
  if (at == std::string::npos ||
      !(std::istringstream(text->substr(at + kBefore.size())) >> percent)) {
    return std::nullopt;
  }
  return std::clamp(percent / 100, 0.0, 1.0);
}

Look::Look(Places places, const std::string& node) : places_(std::move(places)) {
  if (auto opened = gpu::open_driver()) driver_ = *std::move(opened);
  if (auto opened = process::MemoryTraffic::open("agent." + node, places_.resctrl)) {
    traffic_.emplace(std::move(*opened));
  }
}

Report Look::look(Time now, const std::vector<JobGroups>& jobs, const Limits& limits) {
  Report made;
  if (last_ != kNoTime && now > last_) made.length = now - last_;
  made.cpu_pressure = pressure_in(places_.pressure + "/cpu");
  made.memory_pressure = pressure_in(places_.pressure + "/memory");
  made.io_pressure = pressure_in(places_.pressure + "/io");
  if (const auto text = read_file(places_.load)) std::istringstream(*text) >> made.load;
  for (int gpu = 0; driver_ && gpu < driver_->count(); ++gpu) {
    made.gpu_use.push_back(driver_->sample(gpu).use);
  }
  forget_gone(jobs);
  for (const JobGroups& job : jobs) made.jobs.push_back(look_at(job, now, limits));
  count_traffic(now, jobs, made);
  last_ = now;
  return made;
}

JobReport Look::look_at(const JobGroups& job, Time now, const Limits& limits) {
  JobReport made{.job = job.job, .limit = limits.of(job.job)};
  if (const auto cpus = limits.cpus_of(job)) made.cpus = static_cast<int>(cpus->size());
  const auto [found, is_new] =
      seen_.try_emplace(job.job, Seen{.at = now, .word = perf::OwnWord(now)});
  Seen& seen = found->second;
  const auto cpu_s = cpu_seconds(job);
  if (cpu_s && seen.cpu_s && now > seen.at) {
    made.cores = perf::rate(seen.at, *seen.cpu_s, now, *cpu_s).value;
  }
  seen.cpu_s = cpu_s;
  seen.at = now;
  if (!job.unified.empty()) made.cpu_pressure = pressure_in(job.unified + "/cpu.pressure");
  listen(job, now, seen, made);
  return made;
}

void Look::listen(const JobGroups& job, Time now, Seen& seen, JobReport& report) const {
  if (places_.progress.empty()) return;
  const std::string path = places_.progress + "/" + name_of(job.job);
  const process::Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat state {};
  if (!file || ::fstat(file.get(), &state) != 0 || !S_ISREG(state.st_mode)) return;
  if (!users_of(job).contains(state.st_uid)) return;
  const auto said = seen.word.look(file.get(), now);
  if (!said) return;
  report.gpu_use = said->value;
  report.gpu_use_length = said->to - said->from;
}

void Look::count_traffic(Time now, const std::vector<JobGroups>& jobs, Report& report) {
  if (!traffic_) return;
  std::set<std::string> groups;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const std::string name = name_of(jobs[at].job);
    Seen& seen = seen_.at(jobs[at].job);
    // Without a group, since the processor has no more, this job is not measured.
    if (!traffic_->follow(name, processes_of(jobs[at]))) continue;
    groups.insert(name);
    const auto moved = traffic_->moved_gb(name);
    if (moved && seen.moved_gb && now > last_) {
      report.jobs[at].bandwidth_gbs = perf::rate(last_, *seen.moved_gb, now, *moved).value;
    }
    seen.moved_gb = moved;
  }
  traffic_->keep_only(groups);
  const auto moved = traffic_->moved_gb();
  if (moved && moved_gb_ && now > last_) {
    report.bandwidth_gbs = perf::rate(last_, *moved_gb_, now, *moved).value;
  }
  moved_gb_ = moved;
}

void Look::forget_gone(const std::vector<JobGroups>& jobs) {
  std::erase_if(seen_, [&](const auto& each) {
    const bool stays = std::any_of(jobs.begin(), jobs.end(),
                                   [&](const JobGroups& job) { return job.job == each.first; });
    if (!stays && !places_.progress.empty()) {
      ::unlink((places_.progress + "/" + name_of(each.first)).c_str());
    }
    return !stays;
  });
}

}  // namespace almanac::agent
