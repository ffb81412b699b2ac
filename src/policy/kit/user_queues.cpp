// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/user_queues.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::policy {

std::uint32_t UserQueues::number_of(NameId user) {
  const auto [found, is_new] =
      number_of_.try_emplace(user, static_cast<std::uint32_t>(users_.size()));
  if (is_new) users_.emplace_back();
  return found->second;
}

void UserQueues::insert(NameId name, const cluster::Demand& least, const Place& place) {
  const std::uint32_t user = number_of(name);
  const auto number = static_cast<std::uint32_t>(index(numbers_.id_of(least)));
  if (number == classes_.size()) classes_.push_back({.least = least});
  Class& own = classes_[number];
  if (own.fronts.empty() && !own.asleep) awake_.push_back(number);
  std::set<Place>& jobs = own.jobs[user];
  const double share = users_[user].share;
  if (jobs.empty()) {
    users_[user].classes.push_back(number);
    own.fronts.insert({share, place, user});
  } else if (place < *jobs.begin()) {
    own.fronts.erase({share, *jobs.begin(), user});
    own.fronts.insert({share, place, user});
  }
  jobs.insert(place);
  ++waiting_;
}

void UserQueues::erase(NameId name, const cluster::Demand& least, const Place& place) {
  const std::uint32_t user = number_of(name);
  const auto number = static_cast<std::uint32_t>(index(numbers_.id_of(least)));
  Class& own = classes_[number];
  const auto found = own.jobs.find(user);
  ALMANAC_CHECK(found != own.jobs.end() && found->second.contains(place), "job {} is not queued",
                index(place.job));
  std::set<Place>& jobs = found->second;
  const double share = users_[user].share;
  if (place == *jobs.begin()) {
    own.fronts.erase({share, place, user});
    if (jobs.size() > 1) own.fronts.insert({share, *std::next(jobs.begin()), user});
  }
  jobs.erase(place);
  --waiting_;
  if (!jobs.empty()) return;
  own.jobs.erase(found);
  std::erase(users_[user].classes, number);
  if (own.fronts.empty() && !own.asleep) std::erase(awake_, number);
}

void UserQueues::use(NameId name, const cluster::Demand& demand, int sign) {
  const std::uint32_t user = number_of(name);
  User& own = users_[user];
  const cluster::Amount unit = demand.of(1);
  const std::array<std::int32_t, 3> held{unit.gpus * demand.gpu_milli, unit.cpu_milli,
                                         unit.memory_mb};
  const double units = sign * demand.units();
  double share = 0;
  for (std::size_t of = 0; of < held.size(); ++of) {
    own.used[of] += units * held[of];
    if (totals_[of] > 0) share = std::max(share, own.used[of] / totals_[of]);
  }
  refile(user, share);
}

void UserQueues::refile(std::uint32_t user, double share) {
  User& own = users_[user];
  for (const std::uint32_t number : own.classes) {
    Class& waits = classes_[number];
    const Place& first = *waits.jobs.at(user).begin();
    waits.fronts.erase({own.share, first, user});
    waits.fronts.insert({share, first, user});
  }
  own.share = share;
}

const UserQueues::Class* UserQueues::least_awake(std::uint32_t& number) const {
  const Class* best = nullptr;
  for (const std::uint32_t each : awake_) {
    const Class& candidate = classes_[each];
    if (best != nullptr && !(*candidate.fronts.begin() < *best->fronts.begin())) continue;
    best = &candidate;
    number = each;
  }
  return best;
}

JobId UserQueues::next() const {
  std::uint32_t number = 0;
  const Class* const best = least_awake(number);
  return best == nullptr ? kNoJob : best->fronts.begin()->first.job;
}

double UserQueues::share(NameId user) const {
  const auto found = number_of_.find(user);
  return found == number_of_.end() ? 0 : users_[found->second].share;
}

JobId UserQueues::next_of(const cluster::Demand& least) const {
  for (const Class& each : classes_) {
    if (each.least == least && !each.fronts.empty()) return each.fronts.begin()->first.job;
  }
  return kNoJob;
}

void UserQueues::sleep() {
  std::uint32_t number = 0;
  ALMANAC_CHECK(least_awake(number) != nullptr, "no job waits");
  classes_[number].asleep = true;
  std::erase(awake_, number);
  asleep_.push_back(number);
}

}  // namespace almanac::policy
