// SPDX-License-Identifier: Apache-2.0
#include "machine/saving.h"

#include "service/job.h"

namespace almanac::machine {

using store::JobNumber;

Saving::Saving(State& state, Line& line, Gate& gate) : state_(state), line_(line), gate_(gate) {
  if (!state.config.hooks.empty()) hooks_ = std::make_unique<Hooks>(state.config.hooks);
}

store::Commit Saving::commit(Lock& lock, const store::Store::Batch& batch) {
  if (batch.empty()) return {};
  const auto begun = state_.clock.monotonic();
  line_.invalidate();
  lock.unlock();
  store::Commit saved = state_.store.commit(batch);
  lock.lock();
  state_.counters.commit_s += state_.clock.seconds_since(begun);
  if (!saved) ++state_.counters.failed_commits;
  if (saved.kind == store::Commit::Kind::not_now) {
    state_.outbox.refuse(saved.why, state_.now);
    state_.has_changed = true;
  }
  return saved;
}

void Saving::drop(JobNumber number) {
  const Entry& entry = *state_.book.find(number);
  // A job that was stopped may end before its process has gone, and is dropped with that.
  if (!service::has_ended(entry.job) || entry.run || state_.outbox.is_refused(number)) return;
  gate_.count(entry.job, -1);
  state_.ended.note_move(entry.job);
  state_.book.erase(number);
}

void Saving::save(Lock& lock) {
  const bool was_well = state_.outbox.trouble().empty();
  const auto saved = state_.outbox.save(
      state_.now,
      [this](JobNumber number) -> const store::Job& { return state_.book.find(number)->job; },
      [&](const store::Store::Batch& batch) { return commit(lock, batch); });
  if (was_well != state_.outbox.trouble().empty()) state_.has_changed = true;
  if (!saved) return;
  for (const store::Note& note : saved->notes) {
    const Entry* const entry = hooks_ ? state_.book.find(note.job) : nullptr;
    if (entry != nullptr) hooks_->hear(entry->job, note);
  }
  for (const JobNumber number : saved->jobs) drop(number);
}

}  // namespace almanac::machine
