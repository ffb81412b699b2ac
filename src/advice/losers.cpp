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

template <typename Key, typename NameOf>
void add_losers(const std::map<Key, Sum>& sums, NameOf&& name_of, std::vector<Loser>& made) {
  std::vector<Loser> found;
  for (const auto& [key, sum] : sums) {
    if (sum.jobs < Loser::kFewest) continue;
    const auto jobs = static_cast<double>(sum.jobs);
    const double before_s = sum.before_s / jobs;
    const double after_s = sum.after_s / jobs;
    if (after_s < before_s * Loser::kRatio || after_s < before_s + Loser::kMore_s) continue;
    found.push_back({name_of(key), sum.jobs, before_s, after_s});
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
  const auto add = [](Sum& sum, const Waited& job) {
    ++sum.jobs;
    sum.before_s += job.before_s;
    sum.after_s += job.after_s;
  };
  for (const Waited& job : jobs) {
    if (job.request->user != kNoName) add(users[job.request->user], job);
    add(sizes[size_of(job.request->gpus)], job);
  }
  std::vector<Loser> made;
  add_losers(
      users, [&](NameId user) { return fmt::format("user {}", names[user]); }, made);
  add_losers(sizes, size_name, made);
  return made;
}

}  // namespace almanac::advice
