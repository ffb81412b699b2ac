// SPDX-License-Identifier: Apache-2.0

/// \file
/// New jobs. Several submissions share one commit. Of a long array it has the first tasks, and the
/// journal the others, whose records follow some at a time: other users wait for none of it.
#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "machine/core.h"
#include "machine/life.h"
#include "shepherd/record.h"
#include "submission/validate.h"

namespace almanac::machine {

using store::JobNumber;

namespace {

/// The submission of these tasks of an array.
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
    service::Journal::Number later = 0;  // the wish for those tasks that are not in the batch
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
    for (std::size_t at = 0; at < jobs->size(); ++at) {
      store::Job& job = (*jobs)[at];
      if (at < service::Outbox::kAtOnce) {
        batch.put(job);
        batch.note(note_of(job, now_, "submitted"));
      }
      forget_what_runs(job);
      gate_.count(job, +1);
    }
    Enlisted& made = enlisted.emplace_back(std::move(request), std::move(*jobs));
    if (made.jobs.size() <= service::Outbox::kAtOnce) continue;
    made.later = outbox_.journal().add(
        submission_of(std::span(made.jobs).subspan(service::Outbox::kAtOnce)));
    batch.set(service::Outbox::kJournalKey, outbox_.journal().to_json());
  }
  const auto saved = commit(lock, batch);
  if (!saved) last_number_ = last_number;
  for (Enlisted& each : enlisted) {
    if (!saved) {
      outbox_.journal().drop(each.later);
      for (const store::Job& job : each.jobs) gate_.count(job, -1);
      each.request.answer.set_value(tl::unexpected(saved.error()));
      continue;
    }
    std::vector<JobNumber> numbers;
    looked_up_ = &each.request.asked.looked_up;
    for (store::Job& job : each.jobs) {
      numbers.push_back(job.number);
      if (numbers.size() > service::Outbox::kAtOnce) cover_submission(job, now_);
      look_at(book_.add(std::move(job)));
      ++counters_.submitted;
    }
    looked_up_ = nullptr;
    ++revision_;
    if (each.later == 0) {
      each.request.answer.set_value(std::move(numbers));
      continue;
    }
    awaited_.push_back({each.later, each.jobs.size(),
                        [request = std::make_shared<Request>(std::move(each.request)),
                         numbers = std::move(numbers)](const Result<void>& done) {
                          request->answer.set_value(done.map([&] { return numbers; }));
                        }});
  }
}

Result<std::vector<JobNumber>> Core::submitted(const store::Submission& asked) const {
  if (asked.key.empty()) return std::vector<JobNumber>();
  auto numbers = store_.submitted(asked.uid, asked.key);
  if (!numbers || numbers->empty()) return numbers;
  for (const auto& [number, wish] : outbox_.journal().open()) {
    if (wish.what != service::Wish::What::submit || wish.array != numbers->front()) continue;
    numbers->insert(numbers->end(), wish.jobs.begin(), wish.jobs.end());
  }
  return numbers;
}

void Core::cover_submission(const store::Job& job, Time at) {
  outbox_.cover(job.number, std::nullopt, [&] {
    outbox_.note(note_of(job, at, "submitted"));
    outbox_.mark(job.number);
  });
}

Result<void> Core::restore_tasks(const service::Wish& wish) {
  const auto first = service::kept_job(store_, wish.array);
  if (!first) return tl::unexpected(first.error());
  store::Job task = *first;
  forget_what_runs(task);
  // What it asked first: it may have been changed since.
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
    cover_submission(job, job.submit);
    book_.add(std::move(job));
  }
  return {};
}

}  // namespace almanac::machine
