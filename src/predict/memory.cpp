// SPDX-License-Identifier: Apache-2.0
#include "predict/memory.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::predict {

std::size_t Activity::class_of(double log) {
  constexpr std::array<double, kClasses - 1> kEdges = {60, 600, 3600, 21600};
  const double ran_s = std::pow(10.0, log);
  return static_cast<std::size_t>(std::upper_bound(kEdges.begin(), kEdges.end(), ran_s) -
                                  kEdges.begin());
}

bool UnderwayList::remove(JobId job) {
  const auto found = std::lower_bound(jobs_.begin(), jobs_.end(), job,
                                      [](const Underway& a, JobId b) { return a.job < b; });
  if (found == jobs_.end() || found->job != job) return false;
  jobs_.erase(found);
  return true;
}

static std::uint64_t burst_key(const KindKeys& keys) {
  const std::uint64_t own = keys[static_cast<std::size_t>(Kind::user_shape)];
  return own != 0 ? own : keys[static_cast<std::size_t>(Kind::shape)];
}

void Memory::submitted(JobId job, const trace::Request& request) {
  const KindKeys keys = kinds_.keys(request);
  ++jobs_underway_;
  gpus_underway_ += request.gpus;
  submissions_.add(request.submit);
  if (index(request.user) >= users_.size()) users_.resize(index(request.user) + 1);
  Activity& user = users_[index(request.user)];
  user.underway.add(job, request.submit);
  user.hour.add(request.submit);
  user.day.add(request.submit);
  user.last_submit = request.submit;
  Burst& burst = bursts_[burst_key(keys)];
  burst.underway.add(job, request.submit);
  burst.hour.add(request.submit);
  std::shift_right(burst.mates.begin(), burst.mates.end(), 1);
  burst.mates.front() = {.job = job, .submit = request.submit};
}

void Memory::ended(JobId job, const trace::Request& request, const Ended& ended) {
  const KindKeys keys = kinds_.keys(request);
  for (const std::uint64_t key : keys) {
    if (key != 0) recent_[key].add(ended);
  }
  const double log = log_time(ended.ran);
  if (index(request.user) >= users_.size()) users_.resize(index(request.user) + 1);
  Activity& user = users_[index(request.user)];
  if (user.underway.remove(job)) {
    --jobs_underway_;
    gpus_underway_ -= request.gpus;
  }
  constexpr float kFade = 0.95F;
  for (float& share : user.classes) share *= kFade;
  user.classes[Activity::class_of(log)] += 1 - kFade;
  user.in_a_row = ended.state == trace::JobState::completed ? 0 : user.in_a_row + 1;
  Burst& burst = bursts_[burst_key(keys)];
  burst.underway.remove(job);
  for (Burst::Mate& mate : burst.mates) {
    if (mate.job != job) continue;
    mate.log = static_cast<float>(log);
    mate.ended = true;
  }
}

std::vector<Remembered> Memory::ended_so_far() const {
  std::vector<Remembered> made;
  made.reserve(recent_.size());
  for (const auto& [key, recent] : recent_) made.push_back({key, recent});
  std::sort(made.begin(), made.end(),
            [](const Remembered& a, const Remembered& b) { return a.key < b.key; });
  return made;
}

void Memory::recall(std::span<const Remembered> before) {
  ALMANAC_CHECK(recent_.empty(), "{} kinds of job are known already", recent_.size());
  for (const Remembered& each : before) recent_.emplace(each.key, each.recent);
}

const Recent* Memory::recent(const KindKeys& keys, Kind kind) const {
  const auto found = recent_.find(keys[static_cast<std::size_t>(kind)]);
  return found == recent_.end() ? nullptr : &found->second;
}

const Activity* Memory::activity(NameId user) const {
  return index(user) < users_.size() ? &users_[index(user)] : nullptr;
}

const Burst* Memory::burst(const KindKeys& keys) const {
  const auto found = bursts_.find(burst_key(keys));
  return found == bursts_.end() ? nullptr : &found->second;
}

}  // namespace almanac::predict
