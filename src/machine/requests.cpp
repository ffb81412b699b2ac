// SPDX-License-Identifier: Apache-2.0
#include "machine/requests.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "machine/processes.h"
#include "service/job.h"
#include "service/log.h"
#include "text/duration.h"

namespace almanac::machine {

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
std::string amendment(const store::Job& job, const store::Job& amended) {
  const store::Submission& before = job.asked;
  const store::Submission& after = amended.asked;
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
  if (job.task && job.task->at_once != amended.task->at_once) {
    const auto most = [](std::int32_t tasks) {
      return tasks == 0 ? std::string("none") : std::to_string(tasks);
    };
    made += fmt::format("{}limit of running tasks {} to {}", made.empty() ? "" : ", ",
                        most(job.task->at_once), most(amended.task->at_once));
  }
  return made.empty() ? "nothing" : made;
}

/// The event that a wish is for each of its jobs. Not for `submit` and `update`.
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

/// Submissions, and what they become by the same change: tasks of an array share theirs.
using Amendments = std::map<const store::Submission*, std::pair<store::Asked, store::Asked>>;

store::Job amended(store::Job job, const store::Amended& wanted, Amendments& amendments) {
  const auto [known, is_new] =
      amendments.try_emplace(&*job.asked, std::pair(job.asked, store::Asked()));
  if (is_new) known->second.second = amended(job.asked, wanted);
  job.asked = known->second.second;
  if (wanted.gpus) job.amended.gpus = wanted.gpus;
  if (wanted.time_limit != kNoDuration) job.amended.time_limit = wanted.time_limit;
  if (wanted.at_once && job.task) {
    job.amended.at_once = wanted.at_once;
    job.task->at_once = *wanted.at_once;
  }
  return job;
}

}  // namespace

Result<void> Requests::change(PlanChange plan) { return inbox_.ask(std::move(plan)); }

Result<void> Requests::change(Request request) {
  std::vector<JobNumber>& jobs = request.wish.jobs;
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  request.wish.uid = request.caller.uid;
  if (request.wish.what == service::Wish::What::requeue) {
    auto looked_up = state_.ended.look_up(jobs);
    if (!looked_up) return tl::unexpected(looked_up.error());
    request.looked_up = *std::move(looked_up);
  }
  return inbox_.ask(std::move(request));
}

bool Requests::take(Lock& lock) {
  auto taken_out = inbox_.take_one();
  if (!taken_out) return false;
  Result<service::Journal::Number> taken = 0;
  std::size_t num_jobs = 0;
  if (auto* const request = std::get_if<Request>(&taken_out->asked)) {
    num_jobs = request->wish.jobs.size();
    taken = make(lock, std::move(*request));
  } else if (auto done = make(lock, std::get<PlanChange>(taken_out->asked)); !done) {
    taken = tl::unexpected(std::move(done.error()));
  }
  if (!taken) {
    taken_out->answer.set_value(tl::unexpected(std::move(taken.error())));
    return false;
  }
  ++state_.revision;
  const auto answer = std::make_shared<std::promise<Result<void>>>(std::move(taken_out->answer));
  answers_.await(
      {*taken, num_jobs, [answer](const Result<void>& done) { answer->set_value(done); }});
  return true;
}

Result<void> Requests::make(Lock& lock, const PlanChange& plan) {
  const Result<Change> change = plan();
  if (!change) return tl::unexpected(change.error());
  if (const auto saved = saving_.commit(lock, change->kept); !saved) return saved;
  change->act();
  return {};
}

Result<service::Journal::Number> Requests::make(Lock& lock, Request request) {
  auto judged = judge(request);
  if (!judged) return tl::unexpected(judged.error());
  store::Store::Batch batch;
  std::vector<JobNumber> first;
  for (const auto& [number, after] : judged->first) {
    const Entry* const entry = state_.book.find(number);
    const store::Job& before = entry == nullptr ? request.looked_up.jobs.at(number) : entry->job;
    // The batch has the whole record if the store lacks some of it.
    if (state_.outbox.is_unsaved(number)) {
      batch.put(after);
    } else {
      batch.change(before, after);
    }
    first.push_back(number);
  }
  service::Journal journal = state_.outbox.journal();
  bool journal_changes = journal.saved(first);
  request.wish.jobs.assign(judged->jobs.begin() + std::ssize(first), judged->jobs.end());
  service::Journal::Number number = 0;
  if (!request.wish.jobs.empty()) {
    number = journal.add(request.wish);
    journal_changes = true;
  }
  if (journal_changes) batch.set(service::Outbox::kJournalKey, journal.to_json());
  if (const auto saved = saving_.commit(lock, batch); !saved) return tl::unexpected(saved.error());
  state_.outbox.journal() = std::move(journal);
  request.wish.jobs = std::move(judged->jobs);
  apply(request.wish, request.looked_up.jobs);
  for (auto& [job, record] : judged->first) state_.outbox.keep(job, std::move(record));
  return number;
}

Result<Entry*> Requests::find_own(JobNumber number, const service::Caller& caller) {
  Entry* const entry = state_.book.find(number);
  if (entry == nullptr) {
    const auto kept = service::kept_job(state_.store, number);
    return kept ? has_ended_as(*kept) : tl::unexpected(kept.error());
  }
  if (service::has_ended(entry->job)) return has_ended_as(entry->job);
  if (auto may = may_change(entry->job, caller); !may) return tl::unexpected(may.error());
  return entry;
}

Result<Requests::Judged> Requests::judge(Request& request) {
  const bool runs_again = request.wish.what == service::Wish::What::requeue;
  const life::Event event = event_of(request.wish);
  Judged made;
  const auto add = [&](JobNumber number, store::Job after) {
    made.jobs.push_back(number);
    if (made.first.size() < service::Outbox::kAtOnce) made.first.emplace(number, std::move(after));
  };
  // Tasks of an array with the same submission and state are judged once.
  std::set<std::pair<const store::Submission*, JobState>> known;
  Amendments amendments;
  std::optional<Error> over;  // why a job that has ended cannot change
  bool some_are_left = false;
  for (const JobNumber number : request.wish.jobs) {
    const Entry* const entry = state_.book.find(number);
    const bool is_over = entry == nullptr || service::has_ended(entry->job);
    if (is_over && runs_again) {
      if (auto may = may_run_again(number, request); !may) return tl::unexpected(may.error());
      add(number, next(request.looked_up.jobs.at(number), Process::none, event, state_.now)->job);
      continue;
    }
    if (is_over && over) continue;
    if (const auto found = find_own(number, request.caller); !found && !is_over) {
      return tl::unexpected(found.error());
    } else if (!found) {
      over = found.error();
      continue;
    }
    some_are_left = true;
    if (request.wish.what != service::Wish::What::update) {
      auto becomes = next(entry->job, entry->process(), event, state_.now);
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
    return fail(Code::conflict, fmt::format("job {} is already running", request.wish.jobs.front()),
                {}, "requeue it first");
  }
  return made;
}

Result<void> Requests::may_amend(const store::Job& job, const Request& request) {
  const store::Amended& wanted = request.wish.amended;
  const store::Submission asked = amended(job.asked, wanted);
  const auto refuse = [&](Code code, std::string_view why, std::string hint = {}) {
    return fail(code, fmt::format("job {} {}", job.number, why), {}, std::move(hint));
  };
  if (wanted.at_once && !job.task) {
    return refuse(Code::usage, "is no array, so it has no limit on tasks that run at once",
                  "submit an array with --array 0-9%3");
  }
  if (wanted.at_once) {
    // The first task that waits opens the way for the others, so all have the same limit.
    const store::JobNumber array = job.task->array;
    const auto& all = state_.book.all();
    for (auto each = all.lower_bound(array); each != all.end(); ++each) {
      const store::Job& other = each->second.job;
      if (!other.task || other.task->array != array) break;
      const auto& jobs = request.wish.jobs;
      if (service::has_ended(other) || std::binary_search(jobs.begin(), jobs.end(), each->first)) {
        continue;
      }
      return refuse(Code::usage,
                    fmt::format("is a task of array {}, and the limit is of all its tasks", array),
                    "name the array");
    }
  }
  if (job.state == JobState::running) {
    if (wanted.gpus)
      return refuse(Code::conflict, "is running, so its GPUs cannot change", "requeue it first");
    const bool is_more =
        job.asked->time_limit != kNoDuration && asked.time_limit > job.asked->time_limit;
    if (is_more && !request.caller.may_all) {
      return refuse(Code::conflict, "is running: only an operator may extend its time limit");
    }
  }
  const bool is_none = asked.gpus < 0 || (asked.gpus == 0 && !asked.gpu_profile.empty());
  if (is_none || (asked.gpu_share < 1 && asked.gpus != 1)) {
    return refuse(Code::usage, fmt::format("cannot request {} GPUs", asked.gpus));
  }
  if (asked.max_gpus != 0 && asked.gpus > asked.max_gpus) {
    return refuse(Code::usage,
                  fmt::format("may run on at most {} GPUs (--max-gpus)", asked.max_gpus));
  }
  if (asked.gpus < asked.min_gpus) {
    return refuse(Code::usage, fmt::format("must run on at least {} GPUs", asked.min_gpus));
  }
  if (asked.nvlink_gpus > 0 && (asked.gpus == 0 || asked.gpus % asked.nvlink_gpus != 0)) {
    return refuse(Code::usage, fmt::format("must run on a multiple of {} GPUs (--nvlink-gpus)",
                                           asked.nvlink_gpus));
  }
  if (!request.caller.may_all) {
    if (const auto may = gate_.may_ask(asked); !may) return tl::unexpected(may.error());
  }
  if (const auto why = queue_.why_never({.number = job.number, .asked = asked})) {
    return refuse(Code::usage, fmt::format("could never run here then: {}", *why),
                  "almanac nodes lists the resources");
  }
  return {};
}

Result<void> Requests::may_run_again(JobNumber number, Request& request) {
  auto found = request.looked_up.jobs.find(number);
  if (found == request.looked_up.jobs.end() ||
      !state_.ended.is_current(request.looked_up, number)) {
    auto kept = service::kept_job(state_.store, number);
    if (!kept) return tl::unexpected(kept.error());
    forget_what_runs(*kept);
    found = request.looked_up.jobs.insert_or_assign(number, *std::move(kept)).first;
  }
  const store::Job& ended = found->second;
  if (auto may = may_change(ended, request.caller); !may) return may;
  if (state_.book.find(number) != nullptr) {
    return fail(Code::unavailable, fmt::format("the end of job {} is not saved yet", number));
  }
  if (ended.end >= state_.now - state_.config.requeue_for) return {};
  return fail(Code::conflict,
              fmt::format("job {} ended more than {} ago: its environment has been deleted", number,
                          text::format_duration(state_.config.requeue_for)),
              {}, "submit it again");
}

void Requests::apply(const service::Wish& wish, const std::map<JobNumber, store::Job>& ended) {
  const life::Event event = event_of(wish);
  Amendments amendments;
  std::vector<JobNumber> unchanged;
  for (const JobNumber number : wish.jobs) {
    Entry* entry = state_.book.find(number);
    const auto over = entry == nullptr ? ended.find(number) : ended.end();
    if (over != ended.end()) entry = &bring_back(over->second);
    if (entry != nullptr) {
      state_.outbox.cover(number, entry->job, [&] {
        if (wish.what == service::Wish::What::update) {
          if (!service::has_ended(entry->job)) {
            amend(*entry, amended(entry->job, wish.amended, amendments), wish);
          }
        } else {
          lifecycle_.apply(*entry, event);
        }
      });
    }
    if (!state_.outbox.is_unsaved(number)) unchanged.push_back(number);
  }
  state_.outbox.settle(unchanged);
}

Entry& Requests::bring_back(store::Job ended) {
  gate_.count(ended, +1);
  state_.ended.note_move(ended);
  return state_.book.add(std::move(ended));
}

void Requests::amend(Entry& entry, store::Job after, const service::Wish& wish) {
  state_.note(entry.job, "changed",
              fmt::format("{}; by user {}", amendment(entry.job, after), wish.uid));
  entry.job = std::move(after);
  state_.mark(entry);
  if (queue_.is_waiting(entry)) {
    // To the policy this is another job.
    queue_.withdraw(entry);
    state_.book.look_again(entry);
  } else if (entry.waits.what != WaitsFor::What::nothing) {
    state_.book.look_again(entry);
  } else if (queue_.is_running(entry)) {
    queue_.record_of(entry).request.time_limit = entry.job.asked->time_limit;
    if (!entry.run) return;
    if (!awaits_its_end(entry.job)) entry.of_runs.change().obey_by = deadline_of(entry, state_);
    state_.deeds.resize.push_back(entry.job.number);
  }
}

Result<void> Requests::apply_journal() {
  const std::map<service::Journal::Number, service::Wish> open =
      state_.outbox.journal().open();  // a copy: the journal changes meanwhile
  for (const auto& [number, wish] : open) {
    if (wish.what == service::Wish::What::submit) continue;
    std::map<JobNumber, store::Job> ended;
    if (wish.what == service::Wish::What::requeue) {
      auto looked_up = state_.ended.look_up(wish.jobs);
      if (!looked_up) return tl::unexpected(looked_up.error());
      ended = std::move(looked_up->jobs);
    }
    service::log_info(fmt::format("continuing a change of {} jobs that an earlier service began",
                                  wish.jobs.size()));
    apply(wish, ended);
  }
  return {};
}

}  // namespace almanac::machine
