// SPDX-License-Identifier: Apache-2.0

/// \file
/// Changes requested by users and operators. Each is validated, written to disk, and only then
/// applied: a change that the disk refuses has no effect, now or later. The disk gets the records
/// of the first jobs and, for a change of very many jobs, a journal entry for the rest.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "machine/answers.h"
#include "machine/lifecycle.h"
#include "machine/limits.h"
#include "machine/queue.h"
#include "machine/saving.h"
#include "machine/state.h"
#include "service/inbox.h"
#include "service/journal.h"

namespace almanac::machine {

/// A change to something other than jobs.
struct Change {
  store::Store::Batch kept{};   ///< Must be on disk before the change is applied.
  std::function<void()> act{};  ///< Applies it.
};
/// Validates a change without applying anything.
using PlanChange = std::function<Result<Change>()>;

/// A change to jobs.
struct Request {
  service::Wish wish{};
  service::Caller caller{};
  LookedUp looked_up{};
};

class Requests {
 public:
  Requests(State& state, Queue& queue, Lifecycle& lifecycle, Gate& gate, Saving& saving,
           Answers& answers)
      : state_(state),
        queue_(queue),
        lifecycle_(lifecycle),
        gate_(gate),
        saving_(saving),
        answers_(answers) {}

  /// Has the deciding thread apply a change, and waits until it is on disk. Any thread.
  Result<void> change(PlanChange plan);
  Result<void> change(Request request);
  /// Has the deciding thread apply a change, without waiting. Any thread.
  void post(PlanChange plan) { inbox_.post(std::move(plan)); }
  void post(Request request) { inbox_.post(std::move(request)); }

  /// Takes one change request, because the next must be judged against its effects. Returns whether
  /// there was one. Its caller is answered after the step.
  bool take(Lock& lock);
  /// Applies changes in the journal of an earlier service whose records it did not write.
  Result<void> apply_journal();
  /// Refuses all requests from now on.
  void close() { inbox_.close(); }

 private:
  /// The jobs that a request changes, and the new records of the first ones.
  struct Judged {
    std::vector<store::JobNumber> jobs{};  // in order
    std::map<store::JobNumber, store::Job> first{};
  };

  Result<void> make(Lock& lock, const PlanChange& plan);
  /// Returns its number in the journal; 0 if all of it is on disk.
  Result<service::Journal::Number> make(Lock& lock, Request request);
  /// Returns an unfinished job that `caller` may change.
  Result<Entry*> find_own(store::JobNumber number, const service::Caller& caller);
  /// Fails if one of the jobs may not be changed; in a set of jobs, ended ones are skipped. Looks
  /// up ended jobs that will run again.
  Result<Judged> judge(Request& request);
  /// Fails if the job may not be changed in this way.
  Result<void> may_amend(const store::Job& job, const Request& request);
  /// Fails if an ended job may not run again.
  Result<void> may_run_again(store::JobNumber number, Request& request);
  /// Applies a change from the journal. `ended`: the records of jobs that run again.
  void apply(const service::Wish& wish, const std::map<store::JobNumber, store::Job>& ended);
  void amend(Entry& entry, store::Job after, const service::Wish& wish);
  /// Puts an ended job back into the book.
  Entry& bring_back(store::Job ended);

  State& state_;
  Queue& queue_;
  Lifecycle& lifecycle_;
  Gate& gate_;
  Saving& saving_;
  Answers& answers_;
  service::Inbox<std::variant<PlanChange, Request>, void> inbox_{state_.bell};
};

}  // namespace almanac::machine
