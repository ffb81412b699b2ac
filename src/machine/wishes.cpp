// SPDX-License-Identifier: Apache-2.0

/// \file
/// What users want of jobs. Each wish is worked out on the record alone, put on the disk, and only
/// then done: one that the disk refuses has changed nothing, now or later.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <malloc.h>

#include "machine/core.h"
#include "machine/life.h"
#include "service/job.h"
#include "shepherd/record.h"
#include "submission/validate.h"
#include "text/duration.h"

namespace almanac::machine {

using policy::EventKind;
using policy::Phase;
using store::JobNumber;
using trace::JobState;

namespace {

life::Requeued requeued_by(const service::Caller& caller) {
  return {fmt::format("by user {}", caller.uid)};
}

tl::unexpected<Error> has_ended_as(const store::Job& job) {
  return fail(Code::conflict,
              fmt::format("job {} has ended: {}", job.number, to_string(job.state)));
}

Result<void> may_change(const store::Job& job, const service::Caller& caller) {
  if (caller.may_all || caller.uid == job.asked->uid) return {};
  return fail(Code::conflict, fmt::format("job {} belongs to {}", job.number, job.asked->user));
}

/// "time limit 2:00:00 to 1:00:00, 4 GPUs to 2"; "nothing".
std::string amendment(const store::Submission& before, const store::Submission& after) {
  const auto length = [](Duration limit) {
    return limit == kNoDuration ? std::string("none") : text::format_duration(limit);
  };
  std::string made;
  if (before.time_limit != after.time_limit) {
    made = fmt::format("time limit {} to {}", length(before.time_limit), length(after.time_limit));
  }
  if (before.gpus != after.gpus) {
    made += fmt::format("{}{} GPUs to {}", made.empty() ? "" : ", ", before.gpus, after.gpus);
  }
  return made.empty() ? "nothing" : made;
}

}  // namespace

Core::LookedUp Core::look_up_followed(const store::Submission& asked) const {
  LookedUp made{.at = shepherd::since_boot()};
  for (const auto* const list :
       {&asked.after, &asked.after_ok, &asked.after_not_ok, &asked.after_start}) {
    for (const JobNumber number : *list) {
      if (made.well.contains(number)) continue;
      const auto known = store_.ended_well(number);
      if (known && *known) made.well.emplace(number, **known);
    }
  }
  return made;
}

Result<Core::LookedUp> Core::look_up_ended(const std::vector<JobNumber>& numbers) const {
  LookedUp made{.at = shepherd::since_boot()};
  // The tasks of an array, whose numbers follow one another. One job is read when it is its turn.
  if (numbers.size() < 2) return made;
  const auto [first, last] = std::minmax_element(numbers.begin(), numbers.end());
  const auto range = static_cast<std::int64_t>(*last) - static_cast<std::int64_t>(*first) + 1;
  auto jobs = store_.jobs({.above = JobNumber{static_cast<std::int64_t>(*first) - 1},
                           .limit = std::min(range, 2 * std::ssize(numbers))});
  if (!jobs) return tl::unexpected(jobs.error());
  for (store::Job& job : *jobs) {
    if (service::has_ended(job)) made.jobs.emplace(job.number, std::move(job));
  }
  return made;
}

bool Core::holds(const LookedUp& looked_up, JobNumber number) const {
  const auto moved = moved_.find(number);
  return moved == moved_.end() || moved->second < looked_up.at;
}

void Core::has_moved(const store::Job& job) {
  const Duration now = shepherd::since_boot();
  moved_[job.number] = now;
  if (job.task) moved_[job.task->array] = now;
}

std::optional<bool> Core::ended_well(JobNumber number) const {
  if (looked_up_ != nullptr && holds(*looked_up_, number)) {
    const auto found = looked_up_->well.find(number);
    if (found != looked_up_->well.end()) return found->second;
  }
  return store_.ended_well(number).value_or(std::nullopt);
}

Result<std::vector<JobNumber>> Core::submit(store::Submission submission) {
  if (auto valid = submission::validate(submission); !valid) return tl::unexpected(valid.error());
  LookedUp looked_up = look_up_followed(submission);
  return entrants_.ask({.asked = std::move(submission), .looked_up = std::move(looked_up)});
}

Result<void> Core::judge(store::Submission submission) {
  if (auto valid = submission::validate(submission); !valid) return valid;
  LookedUp looked_up = look_up_followed(submission);
  return entrants_
      .ask({.asked = std::move(submission),
            .is_judged_only = true,
            .looked_up = std::move(looked_up)})
      .map([](const auto&) {});
}

void Core::take_entrants(Lock& lock) {
  using Request = decltype(entrants_)::Request;
  struct Enlisted {
    Request request;
    std::vector<store::Job> jobs;
  };
  const std::int64_t last_number = last_number_;
  const auto same_key = [](const store::Submission& a, const store::Submission& b) {
    return !a.key.empty() && a.key == b.key && a.uid == b.uid;
  };
  std::vector<Enlisted> enlisted;
  store::Store::Batch batch;
  for (Request& request : entrants_.take_all()) {
    Entrant& entrant = request.asked;
    const auto comes_again = [&](const Enlisted& each) {
      return same_key(each.request.asked.asked, entrant.asked);
    };
    if (std::any_of(enlisted.begin(), enlisted.end(), comes_again)) {
      entrants_.put_back(std::move(request));  // once the first is there
      continue;
    }
    auto known = submitted(entrant.asked);
    if (!known || !known->empty()) {
      request.answer.set_value(std::move(known));
      continue;
    }
    const auto number_before = last_number_;
    looked_up_ = &entrant.looked_up;
    auto jobs = gate_.let_in(entrant.asked, shepherd::since_boot()).and_then([&] {
      return enlist(entrant.asked);
    });
    looked_up_ = nullptr;
    if (!jobs) {
      request.answer.set_value(tl::unexpected(jobs.error()));
      continue;
    }
    if (entrant.is_judged_only) {
      last_number_ = number_before;
      request.answer.set_value(std::vector<JobNumber>{});
      continue;
    }
    for (store::Job& job : *jobs) {
      batch.put(job);
      batch.note(note_of(job, now_, "submitted"));
      forget_what_runs(job);
      gate_.count(job, +1);
    }
    enlisted.push_back({std::move(request), std::move(*jobs)});
  }
  const auto saved = commit(lock, batch);
  if (!saved) last_number_ = last_number;
  for (Enlisted& each : enlisted) {
    if (!saved) {
      for (const store::Job& job : each.jobs) gate_.count(job, -1);
      each.request.answer.set_value(tl::unexpected(saved.error()));
      continue;
    }
    std::vector<JobNumber> numbers;
    looked_up_ = &each.request.asked.looked_up;
    for (store::Job& job : each.jobs) {
      numbers.push_back(job.number);
      look_at(book_.add(std::move(job)));
      ++counters_.submitted;
    }
    looked_up_ = nullptr;
    ++revision_;
    each.request.answer.set_value(std::move(numbers));
  }
  // The records of very many are here several times until now; what that took is given back, which
  // takes some time.
  constexpr std::int64_t kVeryMany = 10'000;
  if (last_number_ - last_number < kVeryMany) return;
  batch = {};
  enlisted.clear();
  lock.unlock();
  ::malloc_trim(0);
  lock.lock();
}

Result<std::vector<JobNumber>> Core::submitted(const store::Submission& asked) const {
  if (asked.key.empty()) return std::vector<JobNumber>();
  return store_.submitted(asked.uid, asked.key);
}

Result<void> Core::change(PlanWish plan) { return wishes_.ask(std::move(plan)); }

std::optional<Core::Answer> Core::take_wish(Lock& lock) {
  auto wish = wishes_.take_one();
  if (!wish) return std::nullopt;
  const Result<Change> change = wish->asked();
  const Result<void> saved = change.and_then(
      [&](const Change& planned) -> Result<void> { return commit(lock, planned.kept); });
  if (!saved) {
    wish->answer.set_value(saved);
    return std::nullopt;
  }
  for (const auto& act : change->acts) act();
  change->kept.each_job([&](const store::Job& planned) {
    const Entry* const entry = book_.find(planned.number);
    const bool is_kept = entry != nullptr && entry->job == planned;
    if (is_kept) outbox_.mark_kept(planned.number);
  });
  ++revision_;
  return std::move(wish->answer);
}

void Core::refuse_all() {
  ends_.ring();
  entrants_.close();
  wishes_.close();
}

Result<Entry*> Core::own(JobNumber number, const service::Caller& caller) {
  Entry* const entry = book_.find(number);
  if (entry == nullptr) {
    const auto kept = service::kept_job(store_, number);
    return kept ? has_ended_as(*kept) : tl::unexpected(kept.error());
  }
  if (service::has_ended(entry->job)) return has_ended_as(entry->job);
  if (auto may = may_change(entry->job, caller); !may) return tl::unexpected(may.error());
  return entry;
}

Result<Core::Change> Core::plan_each(const std::vector<JobNumber>& numbers,
                                     const service::Caller& caller, const PlanOne& plan) {
  Change change;
  std::optional<Error> over;  // of what has ended
  bool some_are_left = false;
  for (const JobNumber number : numbers) {
    const Entry* const known = book_.find(number);
    const bool is_over = known == nullptr || service::has_ended(known->job);
    if (is_over && over) continue;
    const auto found = own(number, caller);
    if (!found && !is_over) return tl::unexpected(found.error());
    if (!found) {
      over = found.error();
      continue;
    }
    some_are_left = true;
    if (const auto planned = plan(**found, change); !planned) {
      return tl::unexpected(planned.error());
    }
  }
  if (!some_are_left && over) return tl::unexpected(*over);
  return change;
}

void Core::change_record(const Entry& entry, store::Job after, Change& change) {
  // What the store does not have yet of it goes along.
  if (outbox_.is_unsaved(entry.job.number)) {
    change.kept.put(std::move(after));
  } else {
    change.kept.change(entry.job, std::move(after));
  }
}

void Core::plan(Entry& entry, const life::Event& event, Change& change) {
  auto becomes = next(entry.job, entry.process(), event, now_);
  if (!becomes) return;
  change_record(entry, std::move(becomes->job), change);
  // Of the record as it is then: what the job uses is counted while the disk works.
  change.acts.push_back([this, &entry, event] { happen(entry, event); });
}

Result<Core::Change> Core::plan_each(const std::vector<JobNumber>& numbers,
                                     const service::Caller& caller, const life::Event& event) {
  return plan_each(numbers, caller, [&](Entry& entry, Change& change) -> Result<void> {
    plan(entry, event, change);
    return {};
  });
}

Result<void> Core::wish(const std::vector<JobNumber>& numbers, const service::Caller& caller,
                        const life::Event& event) {
  return change([this, numbers, caller, event] { return plan_each(numbers, caller, event); });
}

Result<void> Core::cancel(const std::vector<JobNumber>& numbers, const service::Caller& caller,
                          bool now) {
  return wish(numbers, caller,
              life::Cancelled{fmt::format("cancelled by user {}", caller.uid), now});
}

Result<void> Core::hold(const std::vector<JobNumber>& numbers, const service::Caller& caller) {
  return change([this, numbers, caller]() -> Result<Change> {
    auto planned = plan_each(numbers, caller, life::Held{});
    if (!planned || !planned->acts.empty()) return planned;
    return fail(Code::conflict, fmt::format("job {} runs already", numbers.front()), {},
                "requeue it first");
  });
}

Result<void> Core::release(const std::vector<JobNumber>& numbers, const service::Caller& caller) {
  return wish(numbers, caller, life::Released{});
}

Result<store::Submission> Core::amended(const Entry& entry, const store::Amended& wanted,
                                        const service::Caller& caller) {
  const store::Job& job = entry.job;
  store::Submission asked = job.asked;
  if (wanted.gpus) asked.gpus = *wanted.gpus;
  if (wanted.time_limit != kNoDuration) asked.time_limit = wanted.time_limit;
  const auto refuse = [&](Code code, std::string_view why, std::string hint = {}) {
    return fail(code, fmt::format("job {} {}", job.number, why), {}, std::move(hint));
  };
  if (job.state == JobState::running) {
    if (wanted.gpus)
      return refuse(Code::conflict, "runs, with the GPUs that it has", "requeue it first");
    const bool is_more =
        job.asked->time_limit != kNoDuration && asked.time_limit > job.asked->time_limit;
    if (is_more && !caller.may_all) {
      return refuse(Code::conflict, "runs: only an operator gives it more time");
    }
  }
  const bool is_none = asked.gpus < 0 || (asked.gpus == 0 && !asked.gpu_profile.empty());
  if (is_none || (asked.gpu_share < 1 && asked.gpus != 1)) {
    return refuse(Code::usage, fmt::format("cannot ask {} GPUs", asked.gpus));
  }
  if (asked.max_gpus != 0 && asked.gpus > asked.max_gpus) {
    return refuse(Code::usage,
                  fmt::format("runs on {} GPUs at most, by --max-gpus", asked.max_gpus));
  }
  if (asked.gpus < asked.min_gpus) {
    return refuse(Code::usage, fmt::format("runs on {} GPUs at least", asked.min_gpus));
  }
  if (!caller.may_all) {
    if (const auto may = gate_.may_ask(asked); !may) return tl::unexpected(may.error());
  }
  if (const auto why = never({.number = job.number, .asked = asked})) {
    return refuse(Code::usage, fmt::format("could never run here then: {}", *why),
                  "almanac nodes shows what there is");
  }
  return asked;
}

Result<void> Core::update(const std::vector<JobNumber>& numbers, const store::Amended& wanted,
                          const service::Caller& caller) {
  return change([this, numbers, wanted, caller] {
    // The tasks of an array that ask the same, and stand alike, are judged once and share it then.
    using Kind = std::pair<const store::Submission*, trace::JobState>;
    std::map<Kind, store::Asked> judged;
    return plan_each(numbers, caller, [&](Entry& entry, Change& change) -> Result<void> {
      const Kind kind{&*entry.job.asked, entry.job.state};
      auto known = judged.find(kind);
      if (known == judged.end()) {
        auto asked = amended(entry, wanted, caller);
        if (!asked) return tl::unexpected(asked.error());
        known = judged.emplace(kind, *std::move(asked)).first;
      }
      store::Job after = entry.job;
      const std::string what = amendment(after.asked, *known->second);
      after.asked = known->second;
      if (wanted.gpus) after.amended.gpus = wanted.gpus;
      if (wanted.time_limit != kNoDuration) after.amended.time_limit = wanted.time_limit;
      change_record(entry, after, change);
      change.kept.note(
          note_of(after, now_, "changed", fmt::format("{}; by user {}", what, caller.uid)));
      change.acts.push_back([this, &entry, after = std::move(after)] {
        entry.job.asked = after.asked;
        entry.job.amended = after.amended;
        if (in_round(entry, Phase::waiting)) {
          // To the policy it is another job.
          leave_queue(entry);
          look_at(entry);
        } else if (entry.waits.what != WaitsFor::What::nothing) {
          look_at(entry);
        } else if (in_round(entry, Phase::running)) {
          trace_->jobs[index(entry.id)].request.time_limit = after.asked->time_limit;
          if (!entry.run) return;
          if (!awaits_its_end(entry.job)) entry.of_runs.change().obey_by = limit_of(entry);
          deeds_.resize.push_back(entry.job.number);
        }
      });
      return {};
    });
  });
}

Result<void> Core::requeue(const std::vector<JobNumber>& numbers, const service::Caller& caller) {
  auto looked_up = look_up_ended(numbers);
  if (!looked_up) return tl::unexpected(looked_up.error());
  return change(
      [this, numbers, caller, &looked_up] { return plan_requeue(numbers, caller, *looked_up); });
}

Result<Core::Change> Core::plan_requeue(const std::vector<JobNumber>& numbers,
                                        const service::Caller& caller, const LookedUp& looked_up) {
  Change change;
  for (const JobNumber number : numbers) {
    const Entry* const known = book_.find(number);
    if (known == nullptr || service::has_ended(known->job)) {
      if (auto planned = plan_anew(number, caller, looked_up, change); !planned) {
        return tl::unexpected(planned.error());
      }
      continue;
    }
    const auto found = own(number, caller);
    if (!found) return tl::unexpected(found.error());
    plan(**found, requeued_by(caller), change);
  }
  return change;
}

Result<void> Core::plan_anew(JobNumber number, const service::Caller& caller,
                             const LookedUp& looked_up, Change& change) {
  const auto found = looked_up.jobs.find(number);
  const bool is_known = found != looked_up.jobs.end() && holds(looked_up, number);
  auto known = is_known ? Result<store::Job>(found->second) : service::kept_job(store_, number);
  if (!known) return tl::unexpected(known.error());
  if (auto may = may_change(*known, caller); !may) return may;
  if (book_.find(number) != nullptr) {
    return fail(Code::unavailable, fmt::format("the end of job {} is not on the disk yet", number));
  }
  if (known->end < now_ - config_.requeue_for) {
    return fail(Code::conflict,
                fmt::format("job {} ended more than {} ago: its environment is not kept", number,
                            text::format_duration(config_.requeue_for)),
                {}, "submit it again");
  }
  store::Job ended = *std::move(known);
  forget_what_runs(ended);
  const life::Requeued requeued = requeued_by(caller);
  change.kept.change(ended, next(ended, Process::none, requeued, now_)->job);
  change.acts.push_back([this, ended = std::move(ended), requeued] {
    gate_.count(ended, +1);
    has_moved(ended);
    happen(book_.add(ended), requeued);
  });
  return {};
}

}  // namespace almanac::machine
