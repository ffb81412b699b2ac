// SPDX-License-Identifier: Apache-2.0
#include "advice/losers.h"

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
};

/// 0 = CPU jobs, 1, 2, 4, 8, 16 ...: the most of the class.
int size_of(int gpus) {
  int most = gpus > 0 ? 1 : 0;
  while (most < gpus) most *= 2;
  return most;
}

std::string size_name(int most) {
  if (most == 0) return "CPU jobs";
  if (most <= 2) return fmt::format("jobs of {} GPU{}", most, most == 1 ? "" : "s");
  return fmt::format("jobs of {} to {} GPUs", most / 2 + 1, most);
}

/// 0: below 10 jobs, 1: below 100, 2: more.
int habit_of(std::int64_t jobs) { return jobs < 10 ? 0 : jobs < 100 ? 1 : 2; }

std::string habit_name(int habit) {
  return habit == 0   ? "users with fewer than 10 jobs"
         : habit == 1 ? "users with 10 to 99 jobs"
                      : "users with 100 jobs or more";
}

template <typename Key, typename NameOf>
void add_losers(const std::map<Key, Sum>& sums, bool are_users, NameOf&& name_of,
                std::vector<Loser>& made) {
  std::vector<Loser> found;
  for (const auto& [key, sum] : sums) {
    if (sum.jobs < Loser::kFewest) continue;
    const auto jobs = static_cast<double>(sum.jobs);
    const double before_s = sum.before_s / jobs;
    const double after_s = sum.after_s / jobs;
    if (after_s < before_s * Loser::kRatio || after_s < before_s + Loser::kMore_s) continue;
    found.push_back({name_of(key), are_users, sum.jobs, before_s, after_s});
  }
  std::stable_sort(found.begin(), found.end(), [](const Loser& a, const Loser& b) {
    return (a.after_s - a.before_s) * static_cast<double>(a.jobs) >
           (b.after_s - b.before_s) * static_cast<double>(b.jobs);
  });
  made.insert(made.end(), found.begin(), found.end());
}

}  // namespace

std::vector<Loser> losers_of(std::span<const Waited> jobs, const Names& names) {
  std::map<NameId, Sum> users;
  std::map<int, Sum> sizes;
  std::map<NameId, Sum> vcs;
  std::map<int, Sum> habits;
  const auto add = [](Sum& sum, const Waited& job) {
    ++sum.jobs;
    sum.before_s += job.before_s;
    sum.after_s += job.after_s;
  };
  for (const Waited& job : jobs) {
    if (job.request->user != kNoName) add(users[job.request->user], job);
    if (job.request->vc != kNoName) add(vcs[job.request->vc], job);
    add(sizes[size_of(job.request->gpus)], job);
  }
  for (const Waited& job : jobs) {
    if (job.request->user == kNoName) continue;
    add(habits[habit_of(users.at(job.request->user).jobs)], job);
  }
  std::vector<Loser> made;
  add_losers(
      users, true, [&](NameId user) { return fmt::format("user {}", names[user]); }, made);
  add_losers(sizes, false, size_name, made);
  // One class alone is everybody.
  if (vcs.size() > 1) {
    add_losers(
        vcs, false, [&](NameId vc) { return fmt::format("jobs in {}", names[vc]); }, made);
  }
  if (habits.size() > 1) add_losers(habits, false, habit_name, made);
  return made;
}

}  // namespace almanac::advice
