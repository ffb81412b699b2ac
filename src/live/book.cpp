// SPDX-License-Identifier: Apache-2.0
#include "live/book.h"

#include <algorithm>
#include <utility>

#include <fcntl.h>

#include "base/check.h"
#include "process/descriptor.h"
#include "store/log.h"

namespace almanac::live {

using store::JobNumber;
using trace::JobState;

trace::Job as_policy_knows(const store::Job& job, Names& names) {
  constexpr float kRestart = 30;
  trace::Job record = store::record_of(job, names);
  if (job.asked->max_gpus > 0) record.request.restart_s = kRestart;
  return record;
}

measure::OwnWord word_of(const shepherd::Run& run, Time now) {
  const process::Descriptor file(::open((run.folder() + shepherd::kProgressFile).c_str(),
                                        O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  measure::OwnWord made(now);
  if (file) made.look(file.get(), now);
  return made;
}

void forget_what_runs(store::Job& job) {
  const store::Submission& asked = job.asked;
  const bool has_none = asked.argv.empty() && asked.script.empty() && asked.environment.empty() &&
                        asked.resource_limits.empty();
  if (has_none) return;
  store::Submission rest = asked;
  rest.argv = {};
  rest.script = {};
  rest.environment = {};
  rest.resource_limits = {};
  job.asked = std::move(rest);
}

void forget_what_runs(std::vector<store::Job>& jobs) {
  store::Asked whole;
  store::Asked rest;
  for (store::Job& job : jobs) {
    if (job.asked.is_shared_with(whole)) {
      job.asked = rest;
      continue;
    }
    whole = job.asked;
    forget_what_runs(job);
    rest = job.asked;
  }
}

Time may_begin(const store::Job& job) { return std::max(job.asked->not_before, job.again_at); }

Entry& Book::add(store::Job job) {
  const JobNumber number = job.number;
  const auto [at, is_new] = entries_.try_emplace(number);
  ALMANAC_CHECK(is_new, "job {} is there already", number);
  at->second.job = std::move(job);
  recount(at->second);
  return at->second;
}

void Book::erase(JobNumber number) {
  const auto found = entries_.find(number);
  if (const auto before = std::exchange(found->second.counted_as, nullptr)) {
    --(counts_.*before);
    count_open(found->second.job, -1);
  }
  entries_.erase(found);
}

void Book::count_open(const store::Job& job, int sign) {
  const auto add = [&](const store::Job& each) {
    namesakes_[{each.asked->uid, each.asked->name}].insert(each.number);
  };
  if (!job.asked->after_start.empty()) awaiting_starts_ += sign;
  if (job.asked->singleton) {
    singletons_ += sign;
    if (singletons_ == 0) namesakes_.clear();
    if (singletons_ == 1 && sign > 0) {
      for (const auto& [number, entry] : entries_) {
        if (entry.counted_as != nullptr) add(entry.job);
      }
    }
  }
  if (singletons_ == 0) return;
  if (sign > 0) return add(job);
  const auto those = namesakes_.find({job.asked->uid, job.asked->name});
  if (those == namesakes_.end()) return;
  those->second.erase(job.number);
  if (those->second.empty()) namesakes_.erase(those);
}

bool Book::is_first_of_its_name(const store::Job& job) const {
  const auto those = namesakes_.find({job.asked->uid, job.asked->name});
  return those == namesakes_.end() || *those->second.begin() >= job.number;
}

void Book::recount(Entry& entry) {
  const store::Job& job = entry.job;
  std::int64_t Counts::*now = nullptr;
  if (job.state == JobState::running && !entry.is_starting()) {
    now = &Counts::running;
  } else if (!has_ended(job)) {
    now = job.held ? &Counts::held : &Counts::waiting;
  }
  if (now != nullptr) ++(counts_.*now);
  const auto before = std::exchange(entry.counted_as, now);
  if (before != nullptr) --(counts_.*before);
  if ((now != nullptr) != (before != nullptr)) count_open(job, now != nullptr ? +1 : -1);
}

Entry* Book::find(JobNumber number) {
  const auto found = entries_.find(number);
  return found == entries_.end() ? nullptr : &found->second;
}

const Entry* Book::find(JobNumber number) const {
  const auto found = entries_.find(number);
  return found == entries_.end() ? nullptr : &found->second;
}

Book::Outcome Book::outcome_of(JobNumber number) const {
  bool all_well = true;
  // The tasks of an array have numbers that follow its own.
  for (auto at = entries_.lower_bound(number); at != entries_.end(); ++at) {
    const store::Job& job = at->second.job;
    if (at->first != number && !(job.task && job.task->array == number)) break;
    if (job.state == JobState::pending || job.state == JobState::running) return Outcome::open;
    all_well = all_well && job.state == JobState::completed;
  }
  all_well = all_well && ended_well_(number).value_or(find(number) != nullptr);
  return all_well ? Outcome::well : Outcome::badly;
}

bool Book::has_begun(JobNumber number) const {
  for (auto at = entries_.lower_bound(number); at != entries_.end(); ++at) {
    const store::Job& job = at->second.job;
    if (at->first != number && !(job.task && job.task->array == number)) break;
    const bool began = job.start != kNoTime && !at->second.is_starting();
    if (!began && !has_ended(job)) return false;
  }
  return true;
}

Book::Answer Book::may_follow(const store::Job& job) const {
  const store::Submission& asked = job.asked;
  int yes = 0;
  int not_yet = 0;
  int never = 0;
  const auto look = [&](const std::vector<JobNumber>& before, std::optional<Outcome> bad) {
    for (const JobNumber number : before) {
      const Outcome outcome = outcome_of(number);
      ++(outcome == bad ? never : outcome == Outcome::open ? not_yet : yes);
    }
  };
  look(asked.after, std::nullopt);
  look(asked.after_ok, Outcome::badly);
  look(asked.after_not_ok, Outcome::well);
  for (const JobNumber number : asked.after_start) ++(has_begun(number) ? yes : not_yet);
  if (asked.singleton) ++(is_first_of_its_name(job) ? yes : not_yet);
  if (asked.after_one && yes > 0) return Answer::yes;
  const bool is_in_vain = asked.after_one ? never > 0 && not_yet == 0 : never > 0;
  if (is_in_vain) return Answer::never;
  return not_yet > 0 ? Answer::not_yet : Answer::yes;
}

Aside Book::aside(const Entry& entry, Time now) const {
  const store::Job& job = entry.job;
  if (job.held) return Aside::held;
  if (may_begin(job) > now) return Aside::begins_later;
  switch (may_follow(job)) {
    case Answer::not_yet:
      return Aside::depends;
    case Answer::never:
      return Aside::never;
    case Answer::yes:
      break;
  }
  if (job.task && job.task->at_once > 0) {
    const auto running = tasks_.find(job.task->array);
    if (running != tasks_.end() && running->second >= job.task->at_once) {
      return Aside::array_is_full;
    }
  }
  return Aside::no;
}

void Book::count_task(const store::Job& job, int sign) {
  if (!job.task || job.task->at_once == 0) return;
  int& count = tasks_[job.task->array];
  count += sign;
  if (count == 0) tasks_.erase(job.task->array);
}

}  // namespace almanac::live
