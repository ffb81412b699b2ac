// SPDX-License-Identifier: Apache-2.0
#include "machine/prerequisites.h"

#include <algorithm>

namespace almanac::machine {

using store::JobNumber;

Prerequisites::Answer Prerequisites::answer(const Waiting& waiting) {
  if (waiting.asked->after_one) {
    if (waiting.satisfied() > 0) return Answer::yes;
    return waiting.open > 0 ? Answer::not_yet : Answer::never;
  }
  if (waiting.never > 0) return Answer::never;
  return waiting.open > 0 ? Answer::not_yet : Answer::yes;
}

void Prerequisites::count(Waiting& waiting, const Job& job, Outcome outcome, int sign) {
  if (outcome == Outcome::open || (outcome == Outcome::begun && !job.start_suffices)) {
    waiting.open += sign;
  }
  if ((outcome == Outcome::well && job.never_well) ||
      (outcome == Outcome::badly && job.never_badly)) {
    waiting.never += sign;
  }
}

Prerequisites::List Prerequisites::join(const store::Asked& asked) {
  if (asked->after.empty() && asked->after_ok.empty() && asked->after_not_ok.empty() &&
      asked->after_start.empty()) {
    return 0;
  }
  const auto [at, is_new] = known_.try_emplace(&*asked, last_ + 1);
  if (!is_new) {
    ++lists_[at->second].users;
    return at->second;
  }
  Waiting& waiting = lists_[++last_];
  waiting.asked = asked;
  waiting.users = 1;
  std::vector<Job>& jobs = waiting.jobs;
  for (const JobNumber each : asked->after) jobs.push_back({.number = each});
  for (const JobNumber each : asked->after_ok) {
    jobs.push_back({.number = each, .never_badly = true});
  }
  for (const JobNumber each : asked->after_not_ok) {
    jobs.push_back({.number = each, .never_well = true});
  }
  for (const JobNumber each : asked->after_start) {
    jobs.push_back({.number = each, .start_suffices = true});
  }
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    const JobNumber number = jobs[job].number;
    const auto [watched, is_first] = watched_.try_emplace(number);
    if (is_first) {
      watched->second.outcome = look_(number);
      ++num_looks_;
    }
    if (job == 0 || jobs[job - 1].number != number) watched->second.lists.push_back(last_);
    count(waiting, jobs[job], watched->second.outcome, +1);
  }
  return last_;
}

void Prerequisites::leave(List list) {
  if (list == 0) return;
  const auto found = lists_.find(list);
  Waiting& waiting = found->second;
  if (--waiting.users > 0) return;
  const std::vector<Job> jobs = std::move(waiting.jobs);
  known_.erase(&*waiting.asked);
  lists_.erase(found);
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    if (job > 0 && jobs[job - 1].number == jobs[job].number) continue;
    const auto at = watched_.find(jobs[job].number);
    Watched& watched = at->second;
    // Swept when half of them are gone: 50,000 lists that leave cost no more than each its part.
    if (2 * ++watched.num_gone <= watched.lists.size()) continue;
    std::erase_if(watched.lists, [&](List other) { return !lists_.contains(other); });
    watched.num_gone = 0;
    if (watched.lists.empty()) watched_.erase(at);
  }
}

Prerequisites::Answer Prerequisites::answer(List list) const {
  return list == 0 ? Answer::yes : answer(lists_.at(list));
}

std::vector<Prerequisites::List> Prerequisites::update(JobNumber number) {
  std::vector<List> changed;
  const auto found = watched_.find(number);
  if (found == watched_.end()) return changed;
  Watched& watched = found->second;
  ++num_looks_;
  const Outcome now = look_(number);
  if (now == watched.outcome) return changed;
  for (const List list : watched.lists) {
    const auto there = lists_.find(list);
    if (there == lists_.end()) continue;
    Waiting& waiting = there->second;
    const Answer before = answer(waiting);
    auto job =
        std::lower_bound(waiting.jobs.begin(), waiting.jobs.end(), number,
                         [](const Job& each, JobNumber sought) { return each.number < sought; });
    for (; job != waiting.jobs.end() && job->number == number; ++job) {
      count(waiting, *job, watched.outcome, -1);
      count(waiting, *job, now, +1);
    }
    if (answer(waiting) != before) changed.push_back(list);
  }
  watched.outcome = now;
  return changed;
}

}  // namespace almanac::machine
