// SPDX-License-Identifier: Apache-2.0

/// \file
/// What users want of jobs. Each wish is judged, put on the disk, and only then done: one that the
/// disk refuses has changed nothing, now or later. What is put there are the records of the first
/// jobs and, of a wish for very many, a journal of the others.
#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <malloc.h>

#include "machine/core.h"
#include "machine/life.h"
#include "service/job.h"
#include "service/log.h"
#include "shepherd/record.h"
#include "text/duration.h"

namespace almanac::machine {

using policy::EventKind;
using policy::Phase;
using store::JobNumber;
using trace::JobState;

namespace {

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

/// What happens to each of its jobs; not of `submit` and `update`.
life::Event event_of(const service::Wish& wish) {
  switch (wish.what) {
    case service::Wish::What::hold:
      return life::Held{};
    case service::Wish::What::release:
      return life::Released{};
    case service::Wish::What::requeue:
      return life::Requeued{fmt::format("by user {}", wish.uid)};
    default:
      return life::Cancelled{fmt::format("cancelled by user {}", wish.uid), wish.at_once};
  }
}

store::Submission amended(const store::Submission& asked, const store::Amended& wanted) {
  store::Submission made = asked;
  if (wanted.gpus) made.gpus = *wanted.gpus;
  if (wanted.time_limit != kNoDuration) made.time_limit = wanted.time_limit;
  return made;
}

/// What jobs asked, and what they ask by the same change of it: tasks of an array share it.
using Amendments = std::map<const store::Submission*, std::pair<store::Asked, store::Asked>>;

store::Job amended(store::Job job, const store::Amended& wanted, Amendments& amendments) {
  const auto [known, is_new] =
      amendments.try_emplace(&*job.asked, std::pair(job.asked, store::Asked()));
  if (is_new) known->second.second = amended(job.asked, wanted);
  job.asked = known->second.second;
  if (wanted.gpus) job.amended.gpus = wanted.gpus;
  if (wanted.time_limit != kNoDuration) job.amended.time_limit = wanted.time_limit;
  return job;
}

}  // namespace

Result<Core::LookedUp> Core::look_up_ended(const std::vector<JobNumber>& numbers) const {
  LookedUp made{.at = shepherd::since_boot()};
  if (numbers.empty()) return made;
  // The tasks of an array: their numbers follow one another.
  const auto first = static_cast<std::int64_t>(numbers.front());
  const auto range = static_cast<std::int64_t>(numbers.back()) - first + 1;
  auto jobs = store_.jobs(
      {.above = JobNumber{first - 1}, .limit = std::min(range, 2 * std::ssize(numbers))});
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

Result<void> Core::change(PlanChange plan) { return wishes_.ask(std::move(plan)); }

Result<void> Core::change(Request request) {
  std::vector<JobNumber>& jobs = request.wish.jobs;
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  request.wish.uid = request.caller.uid;
  if (request.wish.what == service::Wish::What::requeue) {
    auto looked_up = look_up_ended(jobs);
    if (!looked_up) return tl::unexpected(looked_up.error());
    request.looked_up = *std::move(looked_up);
  }
  return wishes_.ask(std::move(request));
}

bool Core::take_wish(Lock& lock) {
  auto taken_out = wishes_.take_one();
  if (!taken_out) return false;
  Result<service::Journal::Number> taken = 0;
  std::size_t num_jobs = 0;
  if (auto* const request = std::get_if<Request>(&taken_out->asked)) {
    num_jobs = request->wish.jobs.size();
    taken = take(lock, std::move(*request));
  } else if (auto done = take(lock, std::get<PlanChange>(taken_out->asked)); !done) {
    taken = tl::unexpected(std::move(done.error()));
  }
  if (!taken) {
    taken_out->answer.set_value(tl::unexpected(std::move(taken.error())));
    return false;
  }
  ++revision_;
  const auto answer = std::make_shared<std::promise<Result<void>>>(std::move(taken_out->answer));
  awaited_.push_back(
      {*taken, num_jobs, [answer](const Result<void>& done) { answer->set_value(done); }});
  return true;
}

Result<void> Core::take(Lock& lock, const PlanChange& plan) {
  const Result<Change> change = plan();
  if (!change) return tl::unexpected(change.error());
  if (const auto saved = commit(lock, change->kept); !saved) return saved;
  change->act();
  return {};
}

Result<service::Journal::Number> Core::take(Lock& lock, Request request) {
  auto judged = judge(request);
  if (!judged) return tl::unexpected(judged.error());
  store::Store::Batch batch;
  std::vector<JobNumber> first;
  for (const auto& [number, after] : judged->first) {
    const Entry* const entry = book_.find(number);
    const store::Job& before = entry == nullptr ? request.looked_up.jobs.at(number) : entry->job;
    // What the store does not have yet of it goes along.
    if (outbox_.is_unsaved(number)) {
      batch.put(after);
    } else {
      batch.change(before, after);
    }
    first.push_back(number);
  }
  service::Journal journal = outbox_.journal();
  bool journal_changes = journal.saved(first);
  request.wish.jobs.assign(judged->jobs.begin() + std::ssize(first), judged->jobs.end());
  service::Journal::Number number = 0;
  if (!request.wish.jobs.empty()) {
    number = journal.add(request.wish);
    journal_changes = true;
  }
  if (journal_changes) batch.set(service::Outbox::kJournalKey, journal.to_json());
  if (const auto saved = commit(lock, batch); !saved) return tl::unexpected(saved.error());
  outbox_.journal() = std::move(journal);
  request.wish.jobs = std::move(judged->jobs);
  apply(request.wish, request.looked_up.jobs);
  for (auto& [job, record] : judged->first) outbox_.keep(job, std::move(record));
  return number;
}

void Core::answer_awaited(Lock& lock) {
  constexpr std::size_t kVeryMany = 10'000;
  bool were_very_many = false;
  std::erase_if(awaited_, [&](const Awaited& each) {
    const auto open = outbox_.journal().open().find(each.number);
    if (open == outbox_.journal().open().end() || !outbox_.trouble().empty()) {
      each.answer({});
      were_very_many = were_very_many || each.jobs >= kVeryMany;
      return true;
    }
    const std::vector<JobNumber>& left = open->second.jobs;
    const bool all_are_refused = std::all_of(
        left.begin(), left.end(), [this](JobNumber job) { return outbox_.is_refused(job); });
    if (!all_are_refused) return false;
    each.answer(
        fail(Code::invalid,
             fmt::format("the store does not take the record of job {}{}", left.front(),
                         left.size() == 1 ? "" : fmt::format(" and {} more", left.size() - 1)),
             {}, "it is tried again each minute; the service's log says why"));
    return true;
  });
  if (!were_very_many) return;
  // Their records were here several times until now. What that took is given back, which takes
  // some time.
  lock.unlock();
  ::malloc_trim(0);
  lock.lock();
}

void Core::refuse_all() {
  ends_.ring();
  entrants_.close();
  wishes_.close();
  // The journal has what is not done yet.
  for (const Awaited& each : std::exchange(awaited_, {})) each.answer({});
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

Result<Core::Judged> Core::judge(Request& request) {
  const bool runs_again = request.wish.what == service::Wish::What::requeue;
  const life::Event event = event_of(request.wish);
  Judged made;
  const auto add = [&](JobNumber number, store::Job after) {
    made.jobs.push_back(number);
    if (made.first.size() < service::Outbox::kAtOnce) made.first.emplace(number, std::move(after));
  };
  // The tasks of an array that ask the same, and stand alike, are judged once.
  std::set<std::pair<const store::Submission*, JobState>> known;
  Amendments amendments;
  std::optional<Error> over;  // of what has ended
  bool some_are_left = false;
  for (const JobNumber number : request.wish.jobs) {
    const Entry* const entry = book_.find(number);
    const bool is_over = entry == nullptr || service::has_ended(entry->job);
    if (is_over && runs_again) {
      if (auto may = may_run_again(number, request); !may) return tl::unexpected(may.error());
      add(number, next(request.looked_up.jobs.at(number), Process::none, event, now_)->job);
      continue;
    }
    if (is_over && over) continue;
    if (const auto found = own(number, request.caller); !found && !is_over) {
      return tl::unexpected(found.error());
    } else if (!found) {
      over = found.error();
      continue;
    }
    some_are_left = true;
    if (request.wish.what != service::Wish::What::update) {
      auto becomes = next(entry->job, entry->process(), event, now_);
      if (becomes) add(number, std::move(becomes->job));
      continue;
    }
    if (known.emplace(&*entry->job.asked, entry->job.state).second) {
      if (auto may = may_amend(entry->job, request); !may) return tl::unexpected(may.error());
    }
    add(number, amended(entry->job, request.wish.amended, amendments));
  }
  if (!some_are_left && over) return tl::unexpected(*over);
  if (request.wish.what == service::Wish::What::hold && made.jobs.empty()) {
    return fail(Code::conflict, fmt::format("job {} runs already", request.wish.jobs.front()), {},
                "requeue it first");
  }
  return made;
}

Result<void> Core::may_amend(const store::Job& job, const Request& request) {
  const store::Amended& wanted = request.wish.amended;
  const store::Submission asked = amended(job.asked, wanted);
  const auto refuse = [&](Code code, std::string_view why, std::string hint = {}) {
    return fail(code, fmt::format("job {} {}", job.number, why), {}, std::move(hint));
  };
  if (job.state == JobState::running) {
    if (wanted.gpus)
      return refuse(Code::conflict, "runs, with the GPUs that it has", "requeue it first");
    const bool is_more =
        job.asked->time_limit != kNoDuration && asked.time_limit > job.asked->time_limit;
    if (is_more && !request.caller.may_all) {
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
  if (!request.caller.may_all) {
    if (const auto may = gate_.may_ask(asked); !may) return tl::unexpected(may.error());
  }
  if (const auto why = never({.number = job.number, .asked = asked})) {
    return refuse(Code::usage, fmt::format("could never run here then: {}", *why),
                  "almanac nodes shows what there is");
  }
  return {};
}

Result<void> Core::may_run_again(JobNumber number, Request& request) {
  auto found = request.looked_up.jobs.find(number);
  if (found == request.looked_up.jobs.end() || !holds(request.looked_up, number)) {
    auto kept = service::kept_job(store_, number);
    if (!kept) return tl::unexpected(kept.error());
    forget_what_runs(*kept);
    found = request.looked_up.jobs.insert_or_assign(number, *std::move(kept)).first;
  }
  const store::Job& ended = found->second;
  if (auto may = may_change(ended, request.caller); !may) return may;
  if (book_.find(number) != nullptr) {
    return fail(Code::unavailable, fmt::format("the end of job {} is not on the disk yet", number));
  }
  if (ended.end >= now_ - config_.requeue_for) return {};
  return fail(Code::conflict,
              fmt::format("job {} ended more than {} ago: its environment is not kept", number,
                          text::format_duration(config_.requeue_for)),
              {}, "submit it again");
}

void Core::apply(const service::Wish& wish, const std::map<JobNumber, store::Job>& ended) {
  const life::Event event = event_of(wish);
  Amendments amendments;
  std::vector<JobNumber> unchanged;
  for (const JobNumber number : wish.jobs) {
    Entry* entry = book_.find(number);
    const auto over = entry == nullptr ? ended.find(number) : ended.end();
    if (over != ended.end()) entry = &bring_back(over->second);
    if (entry != nullptr) {
      outbox_.cover(number, entry->job, [&] {
        if (wish.what == service::Wish::What::update) {
          if (!service::has_ended(entry->job)) {
            amend(*entry, amended(entry->job, wish.amended, amendments), wish);
          }
        } else {
          happen(*entry, event);
        }
      });
    }
    if (!outbox_.is_unsaved(number)) unchanged.push_back(number);
  }
  outbox_.settle(unchanged);
}

Entry& Core::bring_back(store::Job ended) {
  gate_.count(ended, +1);
  has_moved(ended);
  return book_.add(std::move(ended));
}

void Core::amend(Entry& entry, store::Job after, const service::Wish& wish) {
  note(entry.job, "changed",
       fmt::format("{}; by user {}", amendment(entry.job.asked, after.asked), wish.uid));
  entry.job = std::move(after);
  touch(entry);
  if (in_round(entry, Phase::waiting)) {
    // To the policy it is another job.
    leave_queue(entry);
    look_at(entry);
  } else if (entry.waits.what != WaitsFor::What::nothing) {
    look_at(entry);
  } else if (in_round(entry, Phase::running)) {
    trace_->jobs[index(entry.id)].request.time_limit = entry.job.asked->time_limit;
    if (!entry.run) return;
    if (!awaits_its_end(entry.job)) entry.of_runs.change().obey_by = limit_of(entry);
    deeds_.resize.push_back(entry.job.number);
  }
}

Result<void> Core::cancel(const std::vector<JobNumber>& numbers, const service::Caller& caller,
                          bool now) {
  return change(
      Request{{.what = service::Wish::What::cancel, .at_once = now, .jobs = numbers}, caller});
}

Result<void> Core::hold(const std::vector<JobNumber>& numbers, const service::Caller& caller) {
  return change(Request{{.what = service::Wish::What::hold, .jobs = numbers}, caller});
}

Result<void> Core::release(const std::vector<JobNumber>& numbers, const service::Caller& caller) {
  return change(Request{{.what = service::Wish::What::release, .jobs = numbers}, caller});
}

Result<void> Core::requeue(const std::vector<JobNumber>& numbers, const service::Caller& caller) {
  return change(Request{{.what = service::Wish::What::requeue, .jobs = numbers}, caller});
}

Result<void> Core::update(const std::vector<JobNumber>& numbers, const store::Amended& wanted,
                          const service::Caller& caller) {
  return change(
      Request{{.what = service::Wish::What::update, .amended = wanted, .jobs = numbers}, caller});
}

Result<void> Core::read_journal() {
  const auto kept = store_.get(service::Outbox::kJournalKey);
  if (!kept) return tl::unexpected(kept.error());
  if (!*kept) return {};
  auto read = service::Journal::read(**kept);
  if (!read) return tl::unexpected(read.error());
  outbox_.journal() = *std::move(read);
  for (const auto& [number, wish] : outbox_.journal().open()) {
    if (wish.what != service::Wish::What::submit) continue;
    last_number_ = std::max(last_number_, static_cast<std::int64_t>(wish.jobs.back()));
    if (auto restored = restore_tasks(wish); !restored) return restored;
  }
  return {};
}

Result<void> Core::apply_journal() {
  const std::map<service::Journal::Number, service::Wish> open =
      outbox_.journal().open();  // it changes meanwhile
  for (const auto& [number, wish] : open) {
    if (wish.what == service::Wish::What::submit) continue;
    std::map<JobNumber, store::Job> ended;
    if (wish.what == service::Wish::What::requeue) {
      auto looked_up = look_up_ended(wish.jobs);
      if (!looked_up) return tl::unexpected(looked_up.error());
      ended = std::move(looked_up->jobs);
    }
    service::log_info(fmt::format("a change of {} jobs, which an earlier service began, goes on",
                                  wish.jobs.size()));
    apply(wish, ended);
  }
  return {};
}

}  // namespace almanac::machine
