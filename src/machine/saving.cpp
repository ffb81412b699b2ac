// SPDX-License-Identifier: Apache-2.0

/// \file
/// What has changed, to the disk, and what follows once it is there.
#include <chrono>

#include "machine/core.h"
#include "service/job.h"

namespace almanac::machine {

using store::JobNumber;

store::Commit Core::commit(Lock& lock, const store::Store::Batch& batch) {
  if (batch.empty()) return {};
  const auto begun = std::chrono::steady_clock::now();
  line_.has_changed = true;
  lock.unlock();
  store::Commit saved = store_.commit(batch);
  lock.lock();
  counters_.commit_s +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (!saved) ++counters_.failed_commits;
  if (saved.kind == store::Commit::Kind::not_now) {
    outbox_.refuse(saved.why, now_);
    changed_ = true;
  }
  return saved;
}

void Core::leave_book(JobNumber number) {
  const Entry& entry = *book_.find(number);
  // One that was stopped may end before its process has gone: it is let go of with that.
  if (!service::has_ended(entry.job) || entry.run || outbox_.is_refused(number)) return;
  gate_.count(entry.job, -1);
  has_moved(entry.job);
  book_.erase(number);
}

void Core::save(Lock& lock) {
  const bool was_well = outbox_.trouble().empty();
  const auto saved = outbox_.save(
      now_, [this](JobNumber number) -> const store::Job& { return book_.find(number)->job; },
      [&](const store::Store::Batch& batch) { return commit(lock, batch); });
  if (was_well != outbox_.trouble().empty()) changed_ = true;
  if (!saved) return;
  for (const store::Note& note : saved->notes) {
    const Entry* const entry = hooks_ ? book_.find(note.job) : nullptr;
    if (entry != nullptr) hooks_->hear(entry->job, note);
  }
  for (const JobNumber number : saved->jobs) leave_book(number);
}

}  // namespace almanac::machine
