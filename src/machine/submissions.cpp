// SPDX-License-Identifier: Apache-2.0
#include "machine/submissions.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "machine/life.h"
#include "submission/cluster_names.h"
#include "submission/validate.h"
#include "text/datetime.h"
#include "text/duration.h"

namespace almanac::machine {

using store::JobNumber;

namespace {

/// The wish that submits these tasks of an array.
service::Wish submission_of(std::span<const store::Job> tasks) {
  const store::Job& first = tasks.front();
  service::Wish made{.what = service::Wish::What::submit,
                     .uid = first.asked->uid,
                     .amended = {.gpus = first.asked->gpus, .time_limit = first.asked->time_limit},
                     .array = first.task->array};
  for (const store::Job& each : tasks) {
    made.jobs.push_back(each.number);
    made.indices.push_back(each.task->index);
  }
  return made;
}

bool has_same_key(const store::Submission& a, const store::Submission& b) {
  return !a.key.empty() && a.key == b.key && a.uid == b.uid;
}

}  // namespace

Result<std::vector<JobNumber>> Submissions::submit(store::Submission submission) {
  if (auto valid = submission::validate(submission); !valid) return tl::unexpected(valid.error());
  LookedUp looked_up = state_.ended.look_up_prerequisites(submission);
  return inbox_.ask({.asked = std::move(submission), .looked_up = std::move(looked_up)});
}

Result<void> Submissions::judge(store::Submission submission) {
  if (auto valid = submission::validate(submission); !valid) return valid;
  LookedUp looked_up = state_.ended.look_up_prerequisites(submission);
  return inbox_
      .ask({.asked = std::move(submission),
            .is_judged_only = true,
            .looked_up = std::move(looked_up)})
      .map([](const auto&) {});
}

void Submissions::take(Lock& lock) {
  const std::int64_t last_number = last_number_;
  std::vector<Enlisted> enlisted;
  store::Store::Batch batch;
  for (Inbox::Request& request : inbox_.take_all()) {
    const bool comes_again =
        std::any_of(enlisted.begin(), enlisted.end(), [&](const Enlisted& each) {
          return has_same_key(each.request.asked.asked, request.asked.asked);
        });
    if (comes_again) {
      inbox_.put_back(std::move(request));  // it finds the numbers of the first
    } else if (auto made = let_in(std::move(request), batch)) {
      enlisted.push_back(*std::move(made));
    }
  }
  const auto saved = saving_.commit(lock, batch);
  if (!saved) last_number_ = last_number;
  for (Enlisted& each : enlisted) {
    if (saved) {
      add(std::move(each));
    } else {
      take_back(std::move(each), saved.error());
    }
  }
}

std::optional<Submissions::Enlisted> Submissions::let_in(Inbox::Request request,
                                                         store::Store::Batch& batch) {
  const store::Submission& asked = request.asked.asked;
  auto known = numbers_of_same(asked);
  if (!known || !known->empty()) {
    request.answer.set_value(std::move(known));
    return std::nullopt;
  }
  const auto number_before = last_number_;
  auto jobs = gate_.let_in(asked, state_.clock.since_boot()).and_then([&] {
    return enlist(request.asked);
  });
  if (!jobs) {
    request.answer.set_value(tl::unexpected(jobs.error()));
    return std::nullopt;
  }
  if (request.asked.is_judged_only) {
    last_number_ = number_before;
    request.answer.set_value(std::vector<JobNumber>{});
    return std::nullopt;
  }
  for (std::size_t at = 0; at < jobs->size(); ++at) {
    store::Job& job = (*jobs)[at];
    if (at < service::Outbox::kAtOnce) {
      batch.put(job);
      batch.note(note_of(job, state_.now, "submitted"));
    }
    forget_what_runs(job);
    gate_.count(job, +1);
  }
  Enlisted made{.request = std::move(request), .jobs = std::move(*jobs)};
  if (made.jobs.size() > service::Outbox::kAtOnce) {
    made.later = state_.outbox.journal().add(
        submission_of(std::span(made.jobs).subspan(service::Outbox::kAtOnce)));
    batch.set(service::Outbox::kJournalKey, state_.outbox.journal().to_json());
  }
  return made;
}

void Submissions::take_back(Enlisted enlisted, const Error& why) {
  state_.outbox.journal().drop(enlisted.later);
  for (const store::Job& job : enlisted.jobs) gate_.count(job, -1);
  enlisted.request.answer.set_value(tl::unexpected(why));
}

void Submissions::add(Enlisted enlisted) {
  std::vector<JobNumber> numbers;
  state_.ended.consult(&enlisted.request.asked.looked_up);
  for (store::Job& job : enlisted.jobs) {
    numbers.push_back(job.number);
    if (numbers.size() > service::Outbox::kAtOnce) cover(job, state_.now);
    state_.book.look_again(state_.book.add(std::move(job)));
    ++state_.counters.submitted;
  }
  state_.ended.consult(nullptr);
  ++state_.revision;
  if (enlisted.later == 0) {
    enlisted.request.answer.set_value(std::move(numbers));
    return;
  }
  const std::size_t num_jobs = numbers.size();
  answers_.await({enlisted.later, num_jobs,
                  [request = std::make_shared<Inbox::Request>(std::move(enlisted.request)),
                   numbers = std::move(numbers)](const Result<void>& done) {
                    request->answer.set_value(done.map([&] { return numbers; }));
                  }});
}

Result<std::vector<store::Job>> Submissions::enlist(const Entrant& entrant) {
  const store::Submission& asked = entrant.asked;
  const auto ours = static_cast<std::uint32_t>(::geteuid());
  if (ours != 0 && asked.uid != ours) {
    return fail(
        Code::unsupported,
        fmt::format("the service runs as user {}, not as root: it can only run jobs of that user",
                    ours));
  }
  const bool is_head = static_cast<bool>(state_.config.silent_boxes);
  if (is_head && state_.config.machine.boxes.empty()) {
    return fail(Code::conflict, "no box has joined yet", {},
                "run `almanac join` on each machine that will run jobs");
  }
  if (is_head && asked.pty) {
    return fail(Code::unsupported, "jobs on boxes cannot have a terminal", {},
                "submit it without --pty");
  }
  if (asked.grace > state_.config.max_grace) {
    return fail(Code::usage,
                fmt::format("grace may be at most {} here, not {}",
                            text::format_duration(state_.config.max_grace),
                            text::format_duration(asked.grace)),
                {}, "serve --max-grace sets the limit");
  }
  if (asked.deadline != kNoTime && asked.deadline <= state_.now) {
    return fail(Code::usage,
                fmt::format("the deadline {} has passed", text::format_datetime(asked.deadline)),
                {}, "give a later --deadline, or none");
  }
  if (auto may = submission::check_names(asked, state_.config.machine.cluster); !may) {
    return tl::unexpected(may.error());
  }
  for (const auto* const list :
       {&asked.after, &asked.after_ok, &asked.after_not_ok, &asked.after_start}) {
    for (const JobNumber before : *list) {
      if (state_.book.find(before) != nullptr) continue;
      if (entrant.looked_up.well.contains(before)) continue;
      const auto known = state_.store.ended_well(before);
      if (!known) return tl::unexpected(known.error());
      if (!*known) {
        return fail(Code::not_found,
                    fmt::format("the job would depend on job {}, which does not exist", before), {},
                    "almanac jobs and almanac history list jobs");
      }
    }
  }
  store::Submission own = asked;
  own.indices.clear();
  own.time_limit = gate_.time_limit(asked);
  if (own.name.empty()) {
    const std::string& program = asked.argv.empty() ? "script" : asked.argv.front();
    own.name = program.substr(program.rfind('/') + 1);
  }
  store::Job job{.number = {}, .asked = std::move(own)};
  job.submit = state_.now;
  job.since = state_.now;
  job.held = asked.hold;
  if (const auto why = queue_.why_never(job)) {
    return fail(Code::usage, fmt::format("it can never run here: {}", *why), {},
                "almanac nodes lists the resources");
  }
  std::vector<store::Job> made;
  const JobNumber array{last_number_ + 1};
  for (const std::int32_t index : asked.indices) {
    store::Job& task = made.emplace_back(job);
    task.number = JobNumber{++last_number_};
    task.task = store::ArrayTask{.array = array, .index = index, .at_once = asked.at_once};
    forget_what_runs(job);  // the store has what all run with the first task
  }
  if (made.empty()) {
    job.number = JobNumber{++last_number_};
    made.push_back(std::move(job));
  }
  return made;
}

Result<std::vector<JobNumber>> Submissions::numbers_of_same(const store::Submission& asked) const {
  if (asked.key.empty()) return std::vector<JobNumber>();
  auto numbers = state_.store.submitted(asked.uid, asked.key);
  if (!numbers || numbers->empty()) return numbers;
  for (const auto& [number, wish] : state_.outbox.journal().open()) {
    if (wish.what != service::Wish::What::submit || wish.array != numbers->front()) continue;
    numbers->insert(numbers->end(), wish.jobs.begin(), wish.jobs.end());
  }
  return numbers;
}

void Submissions::cover(const store::Job& job, Time at) {
  state_.outbox.cover(job.number, std::nullopt, [&] {
    state_.outbox.note(note_of(job, at, "submitted"));
    state_.outbox.mark(job.number);
  });
}

Result<void> Submissions::read_journal() {
  const auto kept = state_.store.get(service::Outbox::kJournalKey);
  if (!kept) return tl::unexpected(kept.error());
  if (!*kept) return {};
  auto read = service::Journal::read(**kept);
  if (!read) return tl::unexpected(read.error());
  state_.outbox.journal() = *std::move(read);
  for (const auto& [number, wish] : state_.outbox.journal().open()) {
    if (wish.what != service::Wish::What::submit) continue;
    last_number_ = std::max(last_number_, static_cast<std::int64_t>(wish.jobs.back()));
    if (auto restored = restore_tasks(wish); !restored) return restored;
  }
  return {};
}

Result<void> Submissions::restore_tasks(const service::Wish& wish) {
  const auto first = service::kept_job(state_.store, wish.array);
  if (!first) return tl::unexpected(first.error());
  store::Job task = *first;
  forget_what_runs(task);
  // What the task asked at first: the first task may have been changed since.
  store::Submission& asked = task.asked.change();
  asked.gpus = wish.amended.gpus.value_or(asked.gpus);
  asked.time_limit = wish.amended.time_limit;
  const store::Asked shared = task.asked;
  for (std::size_t at = 0; at < wish.jobs.size(); ++at) {
    store::Job job{.number = wish.jobs[at], .asked = shared};
    job.task = {.array = wish.array, .index = wish.indices[at], .at_once = first->task->at_once};
    job.submit = first->submit;
    job.since = first->submit;
    job.held = shared->hold;
    gate_.count(job, +1);
    cover(job, job.submit);
    state_.book.add(std::move(job));
  }
  return {};
}

}  // namespace almanac::machine
