// SPDX-License-Identifier: Apache-2.0
#include "live/core.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "base/check.h"
#include "live/log.h"

namespace almanac::live {

using policy::Event;
using policy::EventKind;
using policy::Phase;
using store::JobNumber;

namespace {

/// A disk that would not take what has changed is tried again after so long.
constexpr Duration kTryAgain = 1s;
constexpr std::size_t kHistogramSize = 24;  // up to 2^23 us: eight seconds

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

void Service::Core::run(const std::atomic<bool>& stop) {
  while (!stop) {
    {
      Lock lock(mutex_);
      step(lock);
    }
    if (!stop) wait_for_news();
  }
  refuse_all();
}

void Service::Core::wake() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(bell_.get(), &one, sizeof one));
}

void Service::Core::step(Lock& lock) {
  now_ = clock_.now();
  take_exits();
  take_entrants(lock);
  take_wishes();
  let_in();
  decide();
  save(lock);
  launch(lock);
  if (std::exchange(changed_, false)) ++revision_;
}

Time Service::Core::next_alarm() const {
  const bool unsaved =
      !dirty_.empty() || !notes_.empty() || !told_.empty() || !moments_.empty() || !values_.empty();
  if (!events_.empty() || (unsaved && trouble_.empty())) return now_;
  Time next = save_again_;
  if (!wakes_.empty()) next = std::min(next, *wakes_.begin());
  for (const JobNumber number : aside_) {
    const Entry* const entry = book_.find(number);
    const Time begin = entry->job.asked.not_before;
    if (!entry->job.held && begin != kNoTime && begin > now_) next = std::min(next, begin);
  }
  return next;
}

void Service::Core::wait_for_news() {
  std::vector<pollfd> sources{{bell_.get(), POLLIN, 0}};
  Time next{};
  {
    const Lock lock(mutex_);
    for (const JobNumber number : processes_) {
      sources.push_back({book_.find(number)->run->news(), POLLIN, 0});
    }
    next = next_alarm();
  }
  int timeout_ms = -1;
  if (next != kNever) {
    const Duration left = std::clamp<Duration>(next - clock_.now(), 0ms, 1h);
    timeout_ms = static_cast<int>(left.count()) + 1;
  }
  ::poll(sources.data(), sources.size(), timeout_ms);
  std::uint64_t rung = 0;
  if (sources.front().revents != 0) static_cast<void>(::read(bell_.get(), &rung, sizeof rung));
}

void Service::Core::take_exits() {
  std::vector<pollfd> sources;
  std::vector<JobNumber> whose;
  for (const JobNumber number : processes_) {
    sources.push_back({book_.find(number)->run->news(), POLLIN, 0});
    whose.push_back(number);
  }
  if (sources.empty() || ::poll(sources.data(), sources.size(), 0) <= 0) return;
  for (std::size_t at = 0; at < sources.size(); ++at) {
    if (sources[at].revents == 0) continue;
    Entry& entry = *book_.find(whose[at]);
    const auto how = entry.run->exited();
    if (how && !*how) continue;
    process_gone(entry, how);
  }
}

Result<std::vector<JobNumber>> Service::Core::submit(store::Submission submission) {
  Entrant entrant{.asked = std::move(submission)};
  auto answer = entrant.answer.get_future();
  {
    const std::lock_guard lock(inbox_mutex_);
    if (closed_) return fail(Code::unavailable, "the service is ending");
    entrants_.push_back(std::move(entrant));
  }
  wake();
  return answer.get();
}

void Service::Core::take_entrants(Lock& lock) {
  std::deque<Entrant> taken;
  {
    const std::lock_guard inbox(inbox_mutex_);
    taken.swap(entrants_);
  }
  if (taken.empty()) return;
  store::Store::Batch batch;
  for (Entrant& entrant : taken) {
    auto jobs = enlist(entrant.asked);
    if (!jobs) {
      entrant.answer.set_value(tl::unexpected(jobs.error()));
      continue;
    }
    for (const store::Job& job : *jobs) {
      batch.put(job);
      batch.note({.at = now_, .job = job.number, .what = "submitted", .detail = {}});
    }
    entrant.jobs = std::move(*jobs);
  }
  if (batch.empty()) return;
  const auto begun = std::chrono::steady_clock::now();
  lock.unlock();
  const Result<void> saved = store_.commit(batch);
  lock.lock();
  counters_.commit_s += seconds_since(begun);
  if (!saved) ++counters_.failed_commits;
  for (Entrant& entrant : taken) {
    if (entrant.jobs.empty()) continue;
    if (!saved) {
      entrant.answer.set_value(tl::unexpected(saved.error()));
      continue;
    }
    std::vector<JobNumber> numbers;
    for (store::Job& job : entrant.jobs) {
      numbers.push_back(job.number);
      forget_what_runs(job);
      aside_.insert(job.number);
      book_.add(std::move(job));
      ++counters_.submitted;
    }
    entrant.answer.set_value(std::move(numbers));
    look_aside_ = true;
    changed_ = true;
  }
}

Result<void> Service::Core::change(std::function<Result<void>()> wish) {
  Wish made{.apply = std::move(wish)};
  auto answer = made.answer.get_future();
  {
    const std::lock_guard lock(inbox_mutex_);
    if (closed_) return fail(Code::unavailable, "the service is ending");
    wishes_.push_back(std::move(made));
  }
  wake();
  return answer.get();
}

void Service::Core::take_wishes() {
  std::deque<Wish> taken;
  {
    const std::lock_guard inbox(inbox_mutex_);
    taken.swap(wishes_);
  }
  for (Wish& wish : taken) {
    wish.applied = wish.apply();
    if (wish.applied) {
      applied_.push_back(std::move(wish));
      changed_ = true;
    } else {
      wish.answer.set_value(wish.applied);
    }
  }
}

void Service::Core::let_in() {
  const bool begins = std::any_of(aside_.begin(), aside_.end(), [&](JobNumber number) {
    const Time begin = book_.find(number)->job.asked.not_before;
    return begin != kNoTime && begin <= now_;
  });
  if (!std::exchange(look_aside_, false) && !begins) return;
  const std::vector<JobNumber> waiting(aside_.begin(), aside_.end());
  for (const JobNumber number : waiting) {
    Entry& entry = *book_.find(number);
    switch (book_.aside(entry, now_)) {
      case Aside::no:
        aside_.erase(number);
        join(entry);
        break;
      case Aside::never:
        aside_.erase(number);
        finish(entry, trace::JobState::cancelled, "what it was to follow ended otherwise");
        break;
      default:
        break;
    }
  }
}

void Service::Core::decide() {
  for (; !wakes_.empty() && *wakes_.begin() <= now_; wakes_.erase(wakes_.begin())) {
    if (events_.empty() || events_.back().kind != EventKind::timer) {
      events_.push_back({EventKind::timer, 0});
    }
  }
  while (!events_.empty()) {
    std::vector<Event> told = std::exchange(events_, {});
    std::stable_sort(told.begin(), told.end(),
                     [](const Event& a, const Event& b) { return a.kind < b.kind; });
    const auto begun = std::chrono::steady_clock::now();
    round_->run(now_, told);
    counters_.last_round_s = seconds_since(begun);
    counters_.last_round = now_;
    ++counters_.rounds;
    const auto us = static_cast<std::uint64_t>(counters_.last_round_s * 1e6);
    const auto place = std::min<std::size_t>(std::bit_width(us), kHistogramSize - 1);
    ++counters_.round_us[place];
    changed_ = true;
    for (const Time wake : round_->wakes()) {
      if (wake > now_) {
        wakes_.insert(wake);
      } else if (events_.empty()) {
        events_.push_back({EventKind::timer, 0});
      }
    }
  }
}

void Service::Core::save(Lock& lock) {
  store::Store::Batch batch;
  for (const JobNumber number : dirty_) batch.put(book_.find(number)->job);
  for (const store::Note& note : notes_) batch.note(note);
  for (const store::Told& told : told_) batch.told(told);
  for (const store::Moment& moment : moments_) batch.sample(moment);
  for (const auto& [key, value] : values_) batch.set(key, value);
  if (batch.empty()) return answer_wishes({});
  const auto begun = std::chrono::steady_clock::now();
  lock.unlock();
  const Result<void> saved = store_.commit(batch);
  lock.lock();
  counters_.commit_s += seconds_since(begun);
  if (!saved) {
    ++counters_.failed_commits;
    if (trouble_.empty()) log_error(to_string(saved.error()));
    trouble_ = to_string(saved.error());
    save_again_ = now_ + kTryAgain;
    return answer_wishes(saved);
  }
  if (!trouble_.empty()) log_info("the store is back");
  trouble_.clear();
  save_again_ = kNever;
  for (const JobNumber number : dirty_) {
    const store::Job& job = book_.find(number)->job;
    const bool goes_on =
        job.state == trace::JobState::pending || job.state == trace::JobState::running;
    if (!goes_on) book_.erase(number);
  }
  dirty_.clear();
  notes_.clear();
  told_.clear();
  moments_.clear();
  values_.clear();
  for (const std::string& folder : std::exchange(old_folders_, {})) {
    std::error_code ignored;  // what stays is swept when the next service begins
    std::filesystem::remove_all(folder, ignored);
  }
  answer_wishes({});
}

void Service::Core::answer_wishes(const Result<void>& saved) {
  for (Wish& wish : applied_) wish.answer.set_value(saved);
  applied_.clear();
}

void Service::Core::launch(Lock& lock) {
  if (to_start_.empty() || !trouble_.empty()) return;
  std::vector<JobNumber> later;
  for (const JobNumber number : std::exchange(to_start_, {})) {
    const Entry* const entry = book_.find(number);
    if (entry == nullptr || !entry->starting) continue;
    if (!is_free_of_others(*entry)) {
      later.push_back(number);
      continue;
    }
    lock.unlock();
    const auto whole = store_.job(number);
    lock.lock();
    if (!whole || !*whole) {
      later.push_back(number);
      save_again_ = now_ + kTryAgain;
      continue;
    }
    start_process(*book_.find(number), **whole);
  }
  to_start_.insert(to_start_.end(), later.begin(), later.end());
}

void Service::Core::refuse_all() {
  const std::lock_guard lock(inbox_mutex_);
  closed_ = true;
  const Error ending{Code::unavailable, "the service is ending", {}, {}};
  for (Entrant& entrant : entrants_) entrant.answer.set_value(tl::unexpected(ending));
  for (Wish& wish : wishes_) wish.answer.set_value(tl::unexpected(ending));
  entrants_.clear();
  wishes_.clear();
}

}  // namespace almanac::live
