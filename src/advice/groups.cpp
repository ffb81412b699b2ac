// SPDX-License-Identifier: Apache-2.0
#include "advice/groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace almanac::advice {
namespace {

struct Sum {
  std::int64_t jobs = 0;
  double before_s = 0;
  double after_s = 0;

  void add(const Waited& job) {
    ++jobs;
    before_s += job.before_s;
    after_s += job.after_s;
  }
};

/// 0: below 10 jobs, 1: below 100, 2: more.
int habit_of(std::int64_t jobs) { return jobs < 10 ? 0 : jobs < 100 ? 1 : 2; }

std::string habit_name(int habit) {
  return habit == 0   ? "users with fewer than 10 jobs"
         : habit == 1 ? "users with 10 to 99 jobs"
                      : "users with 100 jobs or more";
}

template <typename Key, typename NameOf>
void add_groups(const std::map<Key, Sum>& sums, GroupKind kind, NameOf&& name_of,
                std::vector<Group>& made) {
  for (const auto& [key, sum] : sums) {
    const auto jobs = static_cast<double>(sum.jobs);
    made.push_back({kind, name_of(key), sum.jobs, sum.before_s / jobs, sum.after_s / jobs});
  }
}

}  // namespace

bool Group::loses() const {
  return jobs >= kFewest && after_s >= before_s * kRatio && after_s >= before_s + kMore_s;
}

int size_class(int gpus) {
  int most = gpus > 0 ? 1 : 0;
  while (most < gpus) most *= 2;
  return most;
}

std::string size_name(int size_class) {
  if (size_class == 0) return "CPU jobs";
  if (size_class <= 2) {
    return fmt::format("jobs of {} GPU{}", size_class, size_class == 1 ? "" : "s");
  }
  return fmt::format("jobs of {} to {} GPUs", size_class / 2 + 1, size_class);
}

std::vector<Group> groups_of(std::span<const Waited> jobs, const Names& names) {
  std::map<NameId, Sum> users;
  std::map<int, Sum> sizes;
  std::map<NameId, Sum> vcs;
  std::map<int, Sum> habits;
  for (const Waited& job : jobs) {
    if (job.request->user != kNoName) users[job.request->user].add(job);
    if (job.request->vc != kNoName) vcs[job.request->vc].add(job);
    sizes[size_class(job.request->gpus)].add(job);
  }
  for (const Waited& job : jobs) {
    if (job.request->user == kNoName) continue;
    habits[habit_of(users.at(job.request->user).jobs)].add(job);
  }
  std::vector<Group> made;
  const auto name = [&](const char* form, NameId id) {
    return fmt::format(fmt::runtime(form), names[id]);
  };
  add_groups(
      users, GroupKind::user, [&](NameId id) { return name("user {}", id); }, made);
  add_groups(sizes, GroupKind::size, size_name, made);
  add_groups(
      vcs, GroupKind::partition, [&](NameId id) { return name("jobs in {}", id); }, made);
  add_groups(habits, GroupKind::habit, habit_name, made);
  return made;
}

std::vector<Group> losers_of(std::span<const Waited> jobs, const Names& names) {
  std::vector<Group> made;
  for (const Group& group : groups_of(jobs, names)) {
    const bool is_everybody =
        group.jobs == static_cast<std::int64_t>(jobs.size()) &&
        (group.kind == GroupKind::partition || group.kind == GroupKind::habit);
    if (group.loses() && !is_everybody) made.push_back(group);
  }
  std::stable_sort(made.begin(), made.end(), [](const Group& a, const Group& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    return a.more_s() * static_cast<double>(a.jobs) > b.more_s() * static_cast<double>(b.jobs);
  });
  return made;
}

}  // namespace almanac::advice
