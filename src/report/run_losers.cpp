// SPDX-License-Identifier: Apache-2.0
#include "report/run_losers.h"

#include <algorithm>
#include <utility>

namespace almanac::report {
namespace {

using Policies = std::vector<PolicyDigest>;

bool loses(const Loser& group) {
  return group.lost_s() > 60 && group.after_s > 1.05 * group.before_s;
}

/// Calls `use` with each group that has finished jobs under both policies.
template <class Use>
void each_group(const RunInput& input, const Policies& policies, std::size_t after_at, By by,
                Use use) {
  const GroupTotals& before = policies.front().totals[static_cast<std::size_t>(by)];
  const GroupTotals& after = policies[after_at].totals[static_cast<std::size_t>(by)];
  for (std::size_t group = 0; group < after.size(); ++group) {
    if (after[group].finished == 0 || before[group].finished == 0) continue;
    use(Loser{.what = input.by(by).names[group],
              .before_s = before[group].mean_wait_s(),
              .after_s = after[group].mean_wait_s(),
              .finished = std::min(before[group].finished, after[group].finished)});
  }
}

}  // namespace

Losers find_losers(const RunInput& input, const Policies& policies, std::size_t after) {
  Losers found;
  const auto look = [&](By by, const char* called, const char* figure) {
    std::optional<Loser> worst;
    each_group(input, policies, after, by, [&](Loser group) {
      if (group.finished < kEnoughJobs) return;
      ++found.compared;
      if (loses(group) && (!worst || group.lost_s() > worst->lost_s())) worst = std::move(group);
    });
    if (!worst) return;
    worst->what = called + worst->what;
    worst->figure = figure;
    found.worst.push_back(std::move(*worst));
  };
  look(By::length, "jobs that run ", "run_lengths");
  look(By::size, "jobs of ", "run_sizes");
  if (input.by(By::vc).told_apart()) look(By::vc, "jobs of virtual cluster ", "run_vcs");
  if (input.by(By::user).told_apart()) look(By::user, "jobs of user ", "run_users");
  std::stable_sort(found.worst.begin(), found.worst.end(),
                   [](const Loser& a, const Loser& b) { return a.lost_s() > b.lost_s(); });
  return found;
}

LosingUsers losing_users(const RunInput& input, const Policies& policies, std::size_t after) {
  LosingUsers found;
  if (!input.by(By::user).told_apart()) return found;
  const auto ranks = [](const Loser& user) {
    return std::pair(user.finished >= kEnoughJobs, user.lost_s());
  };
  each_group(input, policies, after, By::user, [&](Loser user) {
    ++found.users;
    if (!loses(user)) return;
    ++found.losing;
    if (!found.worst || ranks(user) > ranks(*found.worst)) found.worst = std::move(user);
  });
  return found;
}

}  // namespace almanac::report
