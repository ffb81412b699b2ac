// SPDX-License-Identifier: Apache-2.0
#include "service/answers.h"

#include <algorithm>
#include <utility>

namespace almanac::service {

using store::JobNumber;

namespace {

/// Other numbers of GPUs are tried for so many jobs.
constexpr std::size_t kMostAsked = 4;
/// How long a question stands after somebody asked last.
constexpr std::chrono::minutes kAsked{1};
constexpr std::size_t kMostQuestions = 32;
/// How long an answer is good while nothing changes, and whatever changes.
constexpr std::chrono::minutes kGood{1};
constexpr std::chrono::seconds kAlwaysGood{5};

}  // namespace

std::optional<Expected> Answers::of(JobNumber job) const {
  const std::lock_guard lock(mutex_);
  const auto found = forecasts_.find(job);
  if (found == forecasts_.end()) return std::nullopt;
  return found->second;
}

std::optional<Expected> Answers::ask(JobNumber job, Duration patience) {
  std::unique_lock lock(mutex_);
  asked_[job] = clock_.monotonic();
  if (asked_.size() > kMostAsked) {
    asked_.erase(std::min_element(asked_.begin(), asked_.end(), [](const auto& a, const auto& b) {
      return a.second < b.second;
    }));
  }
  const auto is_known = [&] {
    const auto found = forecasts_.find(job);
    return found != forecasts_.end() && found->second.other_gpus.has_value();
  };
  news_.wait_for(lock, patience, [&] { return is_known() || has_ended_; });
  if (!is_known()) return std::nullopt;
  return forecasts_.at(job);
}

template <typename Asked, typename Answer>
std::optional<Answer> Answers::Questions<Asked, Answer>::ask(const Asked& asked,
                                                             std::uint64_t revision,
                                                             Clock::Instant now) {
  std::erase_if(all_, [&](const One& each) { return now - each.when > kAsked; });
  for (One& each : all_) {
    if (each.asked != asked) continue;
    each.when = now;
    const auto age = now - each.answered;
    if (age > kGood || (age > kAlwaysGood && each.revision != revision)) each.answer.reset();
    return each.answer;
  }
  if (all_.size() == kMostQuestions) all_.erase(all_.begin());
  all_.push_back({.asked = asked, .when = now});
  return std::nullopt;
}

template <typename Asked, typename Answer>
void Answers::Questions<Asked, Answer>::answer(const Asked& asked, std::uint64_t revision,
                                               Answer found, Clock::Instant now) {
  for (One& each : all_) {
    if (each.asked != asked) continue;
    each.answer = std::move(found);
    each.revision = revision;
    each.answered = now;
    return;
  }
}

template <typename Asked, typename Answer>
std::vector<Asked> Answers::Questions<Asked, Answer>::open() const {
  std::vector<Asked> made;
  for (const One& each : all_) {
    if (!each.answer) made.push_back(each.asked);
  }
  return made;
}

std::optional<Expected> Answers::ask(const store::Submission& asked, std::uint64_t revision) {
  const std::lock_guard lock(mutex_);
  return newcomers_.ask(asked, revision, clock_.monotonic());
}

std::optional<Result<ChangedForecasts>> Answers::ask(const Changes& asked, std::uint64_t revision) {
  const std::lock_guard lock(mutex_);
  return changes_.ask(asked, revision, clock_.monotonic());
}

std::optional<Result<StartsIf>> Answers::ask_changes(JobNumber job, std::uint64_t revision) {
  const std::lock_guard lock(mutex_);
  return starts_.ask(job, revision, clock_.monotonic());
}

bool Answers::is_question_open() const {
  const std::lock_guard lock(mutex_);
  if (!newcomers_.open().empty() || !changes_.open().empty() || !starts_.open().empty()) {
    return true;
  }
  return std::any_of(asked_.begin(), asked_.end(), [&](const auto& each) {
    const auto found = forecasts_.find(each.first);
    return found != forecasts_.end() && !found->second.other_gpus;
  });
}

void Answers::publish(Forecasts forecasts, std::vector<store::Told>& told) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(told, [&](const store::Told& each) { return forecasts_.contains(each.job); });
    const auto now = clock_.monotonic();
    std::erase_if(asked_, [&](const auto& each) { return now - each.second > kAsked; });
    // The answers of before stand until there are new ones.
    for (const auto& [job, when] : asked_) {
      const auto before = forecasts_.find(job);
      const auto after = forecasts.find(job);
      if (before == forecasts_.end() || after == forecasts.end()) continue;
      if (!after->second.other_gpus) after->second.other_gpus = before->second.other_gpus;
    }
    forecasts_ = std::move(forecasts);
  }
  news_.notify_all();
}

std::set<JobNumber> Answers::jobs_asked() const {
  const std::lock_guard lock(mutex_);
  std::set<JobNumber> made;
  for (const auto& [job, when] : asked_) made.insert(job);
  return made;
}

void Answers::answer(JobNumber job, std::vector<WithGpus> other_gpus) {
  {
    const std::lock_guard lock(mutex_);
    forecasts_.at(job).other_gpus = std::move(other_gpus);
  }
  news_.notify_all();
}

std::vector<store::Submission> Answers::open_questions() const {
  const std::lock_guard lock(mutex_);
  return newcomers_.open();
}

void Answers::answer(const store::Submission& asked, std::uint64_t revision,
                     const Expected& found) {
  const std::lock_guard lock(mutex_);
  newcomers_.answer(asked, revision, found, clock_.monotonic());
}

std::vector<Answers::Changes> Answers::open_changes() const {
  const std::lock_guard lock(mutex_);
  return changes_.open();
}

void Answers::answer(const Changes& asked, std::uint64_t revision, Result<ChangedForecasts> found) {
  const std::lock_guard lock(mutex_);
  changes_.answer(asked, revision, std::move(found), clock_.monotonic());
}

std::vector<JobNumber> Answers::open_jobs() const {
  const std::lock_guard lock(mutex_);
  return starts_.open();
}

void Answers::answer(JobNumber asked, std::uint64_t revision, Result<StartsIf> found) {
  const std::lock_guard lock(mutex_);
  starts_.answer(asked, revision, std::move(found), clock_.monotonic());
}

void Answers::sleep(std::chrono::milliseconds at_most) const {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, at_most, [&] { return has_ended_.load(); });
}

void Answers::end() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  news_.notify_all();
}

}  // namespace almanac::service
