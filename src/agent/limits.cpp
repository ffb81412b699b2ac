// SPDX-License-Identifier: Apache-2.0
#include "agent/limits.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "agent/cpu_list.h"
#include "agent/group_file.h"

namespace almanac::agent {
namespace {

using Json = nlohmann::json;
using manager::JobNumber;
using Change = Limits::Change;

constexpr std::int64_t kPeriod_us = 100'000;
/// The kernel grants no less in a period.
constexpr std::int64_t kLeast_us = 1'000;

const std::string& cpuset_folder(const JobGroups& job) {
  return job.unified.empty() ? job.cpuset : job.unified;
}

/// Whether two texts mean the same limit, however they are written.
bool same(const std::string& file, const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (!file.ends_with("/cpuset.cpus")) return false;
  const auto one = read_cpus(a);
  return one && one == read_cpus(b);
}

bool is_ours(const Change& change, const std::string& text) {
  return same(change.file, text, change.becomes) ||
         (!change.before.empty() && same(change.file, text, change.before));
}

/// A file as it is, to be changed; nothing where it is not there.
std::optional<Change> change_of(const std::string& file, const std::vector<Change>& ours) {
  const auto now = read_file(file);
  if (!now) return std::nullopt;
  for (const Change& each : ours) {
    if (each.file == file && is_ours(each, *now)) return Change{file, each.was, {}, *now};
  }
  return Change{file, *now, {}, {}};
}

std::int64_t quota(double cores, std::int64_t period_us) {
  return std::max<std::int64_t>(kLeast_us, std::llround(cores * static_cast<double>(period_us)));
}

/// What holds the job by its processor time; nothing = no group of Slurm's is for that.
std::optional<Change> by_time(const JobGroups& job, double cores, const std::vector<Change>& ours) {
  if (!job.unified.empty()) {
    auto made = change_of(job.unified + "/cpu.max", ours);
    if (made) made->becomes = fmt::format("{} {}", quota(cores, kPeriod_us), kPeriod_us);
    return made;
  }
  if (job.cpu.empty()) return std::nullopt;
  auto made = change_of(job.cpu + "/cpu.cfs_quota_us", ours);
  const auto period = read_file(job.cpu + "/cpu.cfs_period_us");
  if (!made || !period) return std::nullopt;
  const std::int64_t period_us = std::max<std::int64_t>(kLeast_us, std::atoll(period->c_str()));
  made->becomes = std::to_string(quota(cores, period_us));
  return made;
}

/// Processors that Slurm lets the job use; nothing = any.
std::optional<std::vector<int>> slurms_cpus(const JobGroups& job, const std::vector<Change>& ours) {
  const std::string& folder = cpuset_folder(job);
  if (folder.empty()) return std::nullopt;
  const auto change = change_of(folder + "/cpuset.cpus", ours);
  if (!change || change->was.empty()) return std::nullopt;
  return read_cpus(change->was);
}

/// What holds it by its processors: its groups, those of its steps before it.
std::vector<Change> by_cpus(const JobGroups& job, double cores, const std::vector<Change>& ours) {
  auto kept = slurms_cpus(job, ours);
  if (!kept || kept->empty()) return {};
  kept->resize(std::min(kept->size(), static_cast<std::size_t>(std::ceil(cores))));
  std::vector<Change> made;
  const std::string& folder = cpuset_folder(job);
  // In v2 those of the steps follow by themselves.
  const std::vector<std::string> groups =
      job.unified.empty() ? groups_below(folder) : std::vector<std::string>{folder};
  for (const std::string& group : groups) {
    auto change = change_of(group + "/cpuset.cpus", ours);
    const auto own = change ? read_cpus(change->was) : std::nullopt;
    if (!own || own->empty()) continue;
    std::vector<int> both;
    std::set_intersection(own->begin(), own->end(), kept->begin(), kept->end(),
                          std::back_inserter(both));
    change->becomes = to_list(both.empty() ? *kept : both);
    made.push_back(std::move(*change));
  }
  std::reverse(made.begin(), made.end());
  return made;
}

/// Whether a part of a group has to get more before the group may have less, or the other way.
bool grows(const std::vector<Change>& changes) {
  if (changes.empty()) return false;
  const Change& job = changes.back();
  const auto now = read_cpus(read_file(job.file).value_or(""));
  const auto next = read_cpus(job.becomes);
  return now && next && next->size() > now->size();
}

}  // namespace

std::optional<std::vector<int>> Limits::cpus_of(const JobGroups& job) const {
  const auto known = held_.find(job.job);
  return slurms_cpus(job, known == held_.end() ? std::vector<Change>{} : known->second.changes);
}

Result<Limits> Limits::open(std::string memory) {
  auto left = recall(memory);
  if (!left) return tl::unexpected(left.error());
  Limits made(std::move(memory));
  made.held_ = std::move(*left);
  made.lift_all();
  if (auto written = made.remember(); !written) return tl::unexpected(written.error());
  return made;
}

Result<Limits::All> Limits::recall(const std::string& memory) {
  All made;
  std::ifstream file(memory);
  if (!file) return made;
  try {
    const Json json = Json::parse(file);
    for (const Json& each : json.at("changed")) {
      const JobNumber job{each.at("job").get<std::uint32_t>()};
      made[job].changes.push_back(
          {each.at("file"), each.at("was"), each.at("becomes"), each.at("before")});
    }
  } catch (const Json::exception&) {
    return fail(Code::corrupt, "expected the state file of an Almanac agent", {.file = memory},
                "move it away; limits listed in it stay until their jobs end");
  }
  return made;
}

Result<void> Limits::remember() const {
  Json made{{"changed", Json::array()}};
  for (const auto& [job, held] : held_) {
    for (const Change& each : held.changes) {
      made["changed"].push_back({{"job", static_cast<std::uint32_t>(job)},
                                 {"file", each.file},
                                 {"was", each.was},
                                 {"becomes", each.becomes},
                                 {"before", each.before}});
    }
  }
  const std::string fresh = memory_ + ".new";
  {
    std::ofstream file(fresh);
    file << made.dump() << '\n';
    if (!file.flush()) {
      return fail(Code::unavailable, fmt::format("cannot write: {}", std::strerror(errno)),
                  {.file = fresh});
    }
  }
  if (std::rename(fresh.c_str(), memory_.c_str()) != 0) {
    return fail(Code::unavailable, std::strerror(errno), {.file = memory_});
  }
  return {};
}

void Limits::lift(const Held& held) {
  for (auto change = held.changes.rbegin(); change != held.changes.rend(); ++change) {
    const auto now = read_file(change->file);
    if (now && is_ours(*change, *now)) write_file(change->file, change->was);
  }
}

void Limits::lift_all() {
  for (const auto& [job, held] : held_) lift(held);
  held_.clear();
  static_cast<void>(remember());  // what is remembered in vain is found to be lifted
}

std::optional<double> Limits::of(JobNumber job) const {
  const auto found = held_.find(job);
  return found == held_.end() ? std::nullopt : found->second.cores;
}

std::string Limits::hold_one(const JobGroups& job, double cores) {
  const auto known = held_.find(job.job);
  const std::vector<Change> ours =
      known == held_.end() ? std::vector<Change>{} : known->second.changes;
  std::vector<Change> changes;
  if (auto time = by_time(job, cores, ours)) {
    changes.push_back(std::move(*time));
  } else {
    changes = by_cpus(job, cores, ours);
  }
  if (changes.empty()) return "Slurm has no control group for its processors or their time";
  Held& held = held_[job.job];
  // Files that are no longer ours, like those of ended steps, need no record.
  held.changes = changes;
  const auto differs = [](const Change& each) {
    return !same(each.file, read_file(each.file).value_or(""), each.becomes);
  };
  if (std::none_of(changes.begin(), changes.end(), differs)) {
    held.cores = cores;
    return "";
  }
  if (auto written = remember(); !written) {
    held.changes = ours;
    return to_string(written.error());
  }
  if (grows(changes)) std::reverse(changes.begin(), changes.end());
  for (const Change& each : changes) {
    if (!differs(each) || write_file(each.file, each.becomes)) continue;
    if (errno == ENOENT) continue;  // a step that has just ended
    return fmt::format("{}: {}", each.file, std::strerror(errno));
  }
  held.cores = cores;
  return "";
}

std::map<JobNumber, std::string> Limits::hold(const std::vector<Limit>& wanted,
                                              const std::vector<JobGroups>& there) {
  std::map<JobNumber, std::string> troubles;
  std::set<JobNumber> stay;
  for (const Limit& limit : wanted) {
    const auto job = std::find_if(there.begin(), there.end(),
                                  [&](const JobGroups& each) { return each.job == limit.job; });
    if (job == there.end()) continue;
    const auto cpus = cpus_of(*job);
    if (cpus && limit.cores >= static_cast<double>(cpus->size())) continue;
    stay.insert(limit.job);
    std::string trouble = hold_one(*job, limit.cores);
    if (!trouble.empty()) troubles.emplace(limit.job, std::move(trouble));
  }
  bool lifted = false;
  for (auto at = held_.begin(); at != held_.end();) {
    if (stay.contains(at->first)) {
      ++at;
      continue;
    }
    lift(at->second);
    at = held_.erase(at);
    lifted = true;
  }
  if (lifted) static_cast<void>(remember());
  return troubles;
}

}  // namespace almanac::agent
