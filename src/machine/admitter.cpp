// SPDX-License-Identifier: Apache-2.0
#include "machine/admitter.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

namespace almanac::machine {

using store::JobNumber;

void Admitter::admit_jobs() {
  if (queue_.is_held_back()) return;
  state_.book.open_due(state_.now);
  // The steps that follow let in the others. Callers get their answers in between.
  constexpr int kAtOnce = 2000;
  const std::set<JobNumber>& next = state_.book.anteroom().in({WaitsFor::What::a_look});
  const std::vector<JobNumber> some(
      next.begin(), std::next(next.begin(), std::min<std::ptrdiff_t>(kAtOnce, std::ssize(next))));
  for (const JobNumber number : some) {
    Entry& entry = *state_.book.find(number);
    if (entry.waits.what != WaitsFor::What::a_look) continue;
    const WaitsFor obstacle = obstacle_of(entry);
    note_eligibility(entry, obstacle.what);
    state_.book.wait(entry, obstacle);
    if (obstacle.what == WaitsFor::What::nothing) {
      if (const auto never = queue_.join(entry)) {
        lifecycle_.apply(entry,
                         life::Ended{trace::JobState::failed, policy::to_string(*never, "")});
      }
    } else if (obstacle.what == WaitsFor::What::others && state_.book.is_hopeless(entry)) {
      lifecycle_.apply(
          entry, life::Ended{trace::JobState::cancelled, "its dependency can no longer be met"});
    }
  }
}

void Admitter::admit_to_next_policy() {
  state_.book.open_due(state_.now);
  const std::set<JobNumber> all = state_.book.anteroom().in({WaitsFor::What::a_look});
  for (const JobNumber number : all) {
    Entry& entry = *state_.book.find(number);
    const WaitsFor obstacle = obstacle_of(entry);
    note_eligibility(entry, obstacle.what);
    if (obstacle.what != WaitsFor::What::nothing) continue;
    entry.id = JobId{0};
    state_.book.count_task(entry.job, +1);
    state_.book.wait(entry, {});
  }
}

WaitsFor Admitter::obstacle_of(const Entry& entry) const {
  const WaitsFor made = state_.book.waits_for(entry, state_.now);
  if (made.what != WaitsFor::What::nothing) return made;
  if (accounts_.is_closed(entry.job.asked->uid)) {
    return {WaitsFor::What::account, entry.job.asked->uid};
  }
  if (maintenance_.bars(entry.job.asked->time_limit, state_.now) != nullptr) {
    return {WaitsFor::What::maintenance};
  }
  return {};
}

void Admitter::note_eligibility(Entry& entry, WaitsFor::What obstacle) const {
  const bool is_its_users = obstacle != WaitsFor::What::nothing &&
                            obstacle != WaitsFor::What::maintenance &&
                            obstacle != WaitsFor::What::account;
  if (is_its_users) {
    entry.eligible = kNever;
  } else if (entry.eligible == kNever) {
    entry.eligible = state_.now;
  } else if (entry.eligible == kNoTime) {
    // The job may have waited already when the service started.
    entry.eligible = std::max(entry.job.submit, may_begin(entry.job));
  }
}

Time Admitter::next_admission() const {
  if (queue_.is_held_back()) return kNever;
  const Anteroom& anteroom = state_.book.anteroom();
  return anteroom.in({WaitsFor::What::a_look}).empty() ? anteroom.next_time() : state_.now;
}

}  // namespace almanac::machine
