// SPDX-License-Identifier: Apache-2.0
#include "live/book.h"

#include <utility>

#include "base/check.h"

namespace almanac::live {

using store::After;
using store::JobNumber;
using trace::JobState;

void forget_what_runs(store::Job& job) {
  job.asked.argv = {};
  job.asked.script = {};
  job.asked.environment = {};
}

Entry& Book::add(store::Job job) {
  const JobNumber number = job.number;
  const auto [at, is_new] = entries_.try_emplace(number);
  ALMANAC_CHECK(is_new, "job {} is there already", static_cast<std::int64_t>(number));
  at->second.job = std::move(job);
  return at->second;
}

void Book::erase(JobNumber number) { entries_.erase(number); }

Entry* Book::find(JobNumber number) {
  const auto found = entries_.find(number);
  return found == entries_.end() ? nullptr : &found->second;
}

const Entry* Book::find(JobNumber number) const {
  const auto found = entries_.find(number);
  return found == entries_.end() ? nullptr : &found->second;
}

Book::Answer Book::may_follow(const store::Job& job) const {
  Answer answer = Answer::yes;
  for (const JobNumber number : job.asked.after) {
    const Entry* const before = find(number);
    const JobState state =
        before != nullptr ? before->job.state : ended_(number).value_or(JobState::unknown);
    if (state == JobState::pending || state == JobState::running) {
      answer = Answer::not_yet;
      continue;
    }
    const bool went_well = state == JobState::completed;
    if (job.asked.after_what == After::ok && !went_well) return Answer::never;
    if (job.asked.after_what == After::not_ok && went_well) return Answer::never;
  }
  return answer;
}

Aside Book::aside(const Entry& entry, Time now) const {
  const store::Job& job = entry.job;
  if (job.held) return Aside::held;
  if (job.asked.not_before != kNoTime && job.asked.not_before > now) return Aside::begins_later;
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
