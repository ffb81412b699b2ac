// SPDX-License-Identifier: Apache-2.0
#include "machine/lifecycle.h"

#include <cstdint>
#include <utility>

#include "service/job.h"
#include "store/log.h"

namespace almanac::machine {

using trace::JobState;

namespace {

/// Keeps the GPUs of a stopped job until its process has gone.
void make_room(Entry& entry) {
  OfRuns& own = entry.of_runs.change();
  if (!std::exchange(entry.moves, false)) own.leaves.clear();
  own.moved_by.reset();
  entry.makes_room = true;
  own.leaves.insert(own.leaves.end(), entry.job.held_gpus.begin(), entry.job.held_gpus.end());
}

}  // namespace

void Lifecycle::apply(Entry& entry, const life::Event& event) {
  auto becomes = next(entry.job, entry.process(), event, state_.now);
  if (becomes) become(entry, std::move(*becomes));
}

void Lifecycle::become(Entry& entry, Next becomes) {
  const bool is_over = service::has_ended(becomes.job) && !service::has_ended(entry.job);
  const bool changes_hold = becomes.job.held != entry.job.held;
  if (is_over || becomes.is_anew) {
    queue_.finish(entry, is_over ? becomes.job.end : state_.now);
  } else if (becomes.job.held && queue_.is_waiting(entry)) {
    queue_.withdraw(entry);
  }
  if (becomes.process == Process::former && !entry.makes_room) make_room(entry);
  state_.counters.preempted +=
      static_cast<std::uint64_t>(becomes.job.preemptions - entry.job.preemptions);
  entry.job = std::move(becomes.job);
  if (becomes.is_told) state_.deeds.stop.push_back(entry.job.number);
  if (!becomes.what.empty()) {
    state_.note(entry.job, std::move(becomes.what), std::move(becomes.detail));
  }
  if (is_over) finish_job(entry);
  if (becomes.is_anew) restart_job(entry);
  if (changes_hold && (entry.job.held || entry.waits.what != WaitsFor::What::nothing)) {
    state_.book.look_again(entry);
  }
  state_.mark(entry);
}

void Lifecycle::finish_job(Entry& entry) {
  const store::Job& job = entry.job;
  if (entry.id != kNoJob) {
    trace::Job& record = queue_.record_of(entry);
    record.outcome = store::record_of(job, queue_.names()).outcome;
  }
  queue_.forget(entry);
  const bool has_failed = job.state == JobState::failed && job.start != kNoTime;
  if (has_failed && on_failure_) on_failure_(job);
  ++state_.counters.ended[job.state];
  if (state_.config.futures > 0) ended_.push_back(job);
  state_.book.wait(entry, {});
  starts_.forget(job.number);
  state_.has_changed = true;
}

void Lifecycle::restart_job(Entry& entry) {
  if (entry.id != kNoJob) queue_.record_of(entry).outcome.state = JobState::node_fail;
  queue_.forget(entry);
  entry.eligible = kNever;
  entry.of_runs = {};
  state_.book.look_again(entry);
  state_.has_changed = true;
}

}  // namespace almanac::machine
