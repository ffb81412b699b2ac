// SPDX-License-Identifier: Apache-2.0
#include "machine/book.h"

#include <algorithm>
#include <utility>

#include <fcntl.h>

#include "base/check.h"
#include "process/descriptor.h"
#include "service/job.h"
#include "store/log.h"

namespace almanac::machine {

using store::JobNumber;
using trace::JobState;

trace::Job as_policy_knows(const store::Job& job, Names& names) {
  constexpr float kRestart = 30;
  trace::Job record = store::record_of(job, names);
  if (job.asked->max_gpus > 0) record.request.restart_s = kRestart;
  return record;
}

perf::OwnWord word_of(const shepherd::Run& run, Time now) {
  const process::Descriptor file(::open((run.folder() + shepherd::kProgressFile).c_str(),
                                        O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  perf::OwnWord made(now);
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

Book::Book(EndedWell ended_well)
    : ended_well_(std::move(ended_well)),
      prerequisites_([this](JobNumber number) { return outcome_of(number); }) {}

Entry& Book::add(store::Job job) {
  const JobNumber number = job.number;
  const auto [at, is_new] = entries_.try_emplace(number);
  ALMANAC_CHECK(is_new, "job {} already exists", number);
  at->second.job = std::move(job);
  recount(at->second);
  return at->second;
}

void Book::erase(JobNumber number) {
  const auto found = entries_.find(number);
  Entry& entry = found->second;
  if (const auto before = std::exchange(entry.counted_as, nullptr)) {
    --(counts_.*before);
    count_namesake(entry.job, false);
  }
  wait(entry, {});
  prerequisites_.leave(std::exchange(entry.list, 0));
  entries_.erase(found);
}

void Book::recount(Entry& entry) {
  const store::Job& job = entry.job;
  std::int64_t Counts::*now = nullptr;
  const bool runs = job.state == JobState::running && !entry.is_starting();
  if (!service::has_ended(job)) now = &Counts::waiting;
  if (!service::has_ended(job) && job.held) now = &Counts::held;
  if (runs) now = &Counts::running;
  if (now != nullptr) ++(counts_.*now);
  const auto before = std::exchange(entry.counted_as, now);
  if (before != nullptr) --(counts_.*before);
  const bool is_open = now != nullptr;
  const bool is_unbegun = is_open && (job.start == kNoTime || entry.is_starting());
  const bool was_unbegun = std::exchange(entry.counted_unbegun, is_unbegun);
  if (is_unbegun != was_unbegun && job.task) {
    int& count = unbegun_[job.task->array];
    count += is_unbegun ? 1 : -1;
    if (count == 0) unbegun_.erase(job.task->array);
  }
  const Changed changed{.end = is_open != (before != nullptr), .start = is_unbegun != was_unbegun};
  if (!changed.end && !changed.start) return;
  if (!changed.end) return tell_followers(job, changed);
  if (job.task) open_[job.task->array] += is_open ? 1 : -1;
  if (is_open) {
    entry.list = prerequisites_.join(job.asked);
  } else {
    prerequisites_.leave(std::exchange(entry.list, 0));
  }
  count_namesake(job, is_open);
  tell_followers(job, changed);
}

void Book::tell(JobNumber number) {
  for (const Prerequisites::List list : prerequisites_.update(number)) {
    open({WaitsFor::What::others, list});
  }
}

void Book::tell_followers(const store::Job& job, Changed changed) {
  if (!job.task) return tell(job.number);
  const JobNumber array = job.task->array;
  if (job.number != array) tell(job.number);
  // The array's number is all of its tasks: it has ended, or begun, with the last of them.
  const auto open_tasks = open_.find(array);
  const bool is_over = open_tasks->second == 0;
  const bool ends_otherwise = changed.end && (is_over || open_tasks->second == 1);
  if (is_over) open_.erase(open_tasks);
  const auto unbegun = unbegun_.find(array);
  const bool starts_otherwise =
      changed.start && (unbegun == unbegun_.end() || unbegun->second == 1);
  if (ends_otherwise || starts_otherwise) tell(array);
}

void Book::count_namesake(const store::Job& job, bool is_open) {
  const auto add = [&](const store::Job& each) {
    namesakes_[{each.asked->uid, each.asked->name}].insert(each.number);
  };
  if (job.asked->singleton && is_open && ++singletons_ == 1) {
    for (const auto& [number, entry] : entries_) {
      if (entry.counted_as != nullptr) add(entry.job);
    }
  }
  if (singletons_ == 0) return;
  if (is_open) {
    add(job);
  } else {
    const auto those = namesakes_.find({job.asked->uid, job.asked->name});
    if (those != namesakes_.end()) those->second.erase(job.number);
    if (those != namesakes_.end() && those->second.empty()) namesakes_.erase(those);
    open({WaitsFor::What::namesake, static_cast<std::int64_t>(job.number)});
  }
  if (job.asked->singleton && !is_open && --singletons_ == 0) namesakes_.clear();
}

std::optional<JobNumber> Book::namesake_before(const store::Job& job) const {
  const auto those = namesakes_.find({job.asked->uid, job.asked->name});
  if (those == namesakes_.end()) return std::nullopt;
  const auto own = those->second.lower_bound(job.number);
  if (own == those->second.begin()) return std::nullopt;
  return *std::prev(own);
}

Entry* Book::find(JobNumber number) {
  const auto found = entries_.find(number);
  return found == entries_.end() ? nullptr : &found->second;
}

const Entry* Book::find(JobNumber number) const {
  const auto found = entries_.find(number);
  return found == entries_.end() ? nullptr : &found->second;
}

Prerequisites::Outcome Book::outcome_of(JobNumber number) const {
  using Outcome = Prerequisites::Outcome;
  if (open_.contains(number)) return unbegun_.contains(number) ? Outcome::open : Outcome::begun;
  bool all_well = true;
  // The tasks of an array have numbers that follow its own.
  for (auto at = entries_.lower_bound(number); at != entries_.end(); ++at) {
    const store::Job& job = at->second.job;
    if (at->first != number && !(job.task && job.task->array == number)) break;
    if (at->second.counted_as != nullptr) {
      return at->second.counted_unbegun ? Outcome::open : Outcome::begun;
    }
    all_well = all_well && job.state == JobState::completed;
  }
  all_well = all_well && ended_well_(number).value_or(find(number) != nullptr);
  return all_well ? Outcome::well : Outcome::badly;
}

WaitsFor Book::waits_for(const Entry& entry, Time now) const {
  using What = WaitsFor::What;
  const store::Job& job = entry.job;
  if (job.held) return {What::release};
  if (const Time begin = may_begin(job); begin != kNoTime && begin > now) {
    return {What::time, begin.time_since_epoch().count()};
  }
  if (prerequisites_.answer(entry.list) != Prerequisites::Answer::yes) {
    return {What::others, entry.list};
  }
  if (job.asked->singleton) {
    if (const auto before = namesake_before(job)) {
      return {What::namesake, static_cast<std::int64_t>(*before)};
    }
  }
  if (job.task && job.task->at_once > 0) {
    const auto running = tasks_.find(job.task->array);
    if (running != tasks_.end() && running->second >= job.task->at_once) {
      return {What::array, static_cast<std::int64_t>(job.task->array)};
    }
  }
  return {};
}

bool Book::is_hopeless(const Entry& entry) const {
  return prerequisites_.answer(entry.list) == Prerequisites::Answer::never;
}

void Book::wait(Entry& entry, WaitsFor room) {
  using What = WaitsFor::What;
  const WaitsFor before = std::exchange(entry.waits, room);
  anteroom_.move(entry.job.number, before, room);
  // It was its turn, and may not have been taken.
  const bool gives_way = before.what == What::a_look && room.what != What::a_look;
  if (gives_way && room.what != What::array) open_array(entry.job);
}

void Book::open(WaitsFor room) {
  // A copy: each leaves the room.
  const std::set<JobNumber> all = anteroom_.in(room);
  for (const JobNumber each : all) wait(entries_.at(each), {WaitsFor::What::a_look});
}

void Book::open_due(Time now) {
  for (Time next = anteroom_.next_time(); next <= now; next = anteroom_.next_time()) {
    open({WaitsFor::What::time, next.time_since_epoch().count()});
  }
}

void Book::open_array(const store::Job& task) {
  if (!task.task) return;
  const auto& room =
      anteroom_.in({WaitsFor::What::array, static_cast<std::int64_t>(task.task->array)});
  if (!room.empty()) wait(entries_.at(*room.begin()), {WaitsFor::What::a_look});
}

void Book::count_task(const store::Job& job, int sign) {
  if (!job.task) return;
  int& count = tasks_[job.task->array];
  count += sign;
  if (count == 0) tasks_.erase(job.task->array);
  if (sign < 0) open_array(job);
}

}  // namespace almanac::machine
