// SPDX-License-Identifier: Apache-2.0
#include "study/user_shares.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace almanac::study {

UserShares user_shares(const Study& study, figure::Column quantity,
                       const std::function<double(const trace::Job&)>& amount) {
  struct User {
    NameId name;
    double sum;
  };
  const Names& names = study.trace().names;
  constexpr double kNoJob = -1;
  std::vector<double> sums(names.size(), kNoJob);
  UserShares shares;
  std::int64_t jobs = 0;
  for (const auto list : {study.gpu_jobs(), study.cpu_jobs()}) {
    for (const std::uint32_t at : list) {
      const trace::Job& job = study.job(at);
      if (job.request.user == kNoName) continue;
      ++jobs;
      double& sum = sums[index(job.request.user)];
      if (sum == kNoJob) sum = 0;
      const double part = amount(job);
      if (!std::isnan(part)) sum += part;
    }
  }
  std::vector<User> users;
  double total = 0;
  for (std::uint32_t name = 0; name < sums.size(); ++name) {
    if (sums[name] == kNoJob) continue;
    users.push_back({NameId{name}, sums[name]});
    total += sums[name];
  }
  std::stable_sort(users.begin(), users.end(),
                   [](const User& a, const User& b) { return a.sum > b.sum; });
  shares.users = users.size();
  shares.users_at_top = top_users(users.size());

  figure::Figure& figure = shares.figure;
  figure.n = jobs;
  const std::string name = quantity.name;
  auto& user = figure.text("user", "User");
  auto& sum = figure.columns.emplace_back(std::move(quantity));
  auto& of_users = figure.number("user_fraction", "Share of the users", figure::Unit::fraction);
  auto& fraction = figure.number("fraction", "Cumulative share", figure::Unit::fraction);
  double held = 0;
  for (std::size_t rank = 0; rank < users.size(); ++rank) {
    held += users[rank].sum;
    // Like numpy.linspace(0, 1, users): the first user is at 0.
    const double place =
        users.size() > 1 ? static_cast<double>(rank) / static_cast<double>(users.size() - 1) : 1;
    user.add(std::string(names[users[rank].name]));
    sum.add(users[rank].sum);
    of_users.add(place);
    fraction.add(total > 0 ? held / total : std::nan(""));
    if (rank + 1 == shares.users_at_top) shares.top_5 = total > 0 ? held / total : std::nan("");
  }
  figure.charts.push_back(
      {.kind = "line", .x = "user_fraction", .y = {"fraction"}, .labels = "user"});
  return shares;
}

}  // namespace almanac::study
