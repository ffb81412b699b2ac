// SPDX-License-Identifier: Apache-2.0

/// \file
/// Changes that users and operators ask for. Each is judged, written to the disk, and only then
/// made: a change that the disk refuses has changed nothing, now or later. The disk gets the
/// records of the first jobs and, if the change is of very many, a journal of the others.
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

/// A change of anything but jobs.
struct Change {
  store::Store::Batch kept{};   ///< Must be on the disk before the change is made.
  std::function<void()> act{};  ///< Makes it.
};
/// Judges a change, and changes nothing.
using PlanChange = std::function<Result<Change>()>;

/// A change of jobs.
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

  /// Has the deciding thread make a change, and waits until it is on the disk. Any thread.
  Result<void> change(PlanChange plan);
  Result<void> change(Request request);
  /// Has the deciding thread make a change for which no caller waits. Any thread.
  void post(PlanChange plan) { inbox_.post(std::move(plan)); }
  void post(Request request) { inbox_.post(std::move(request)); }

  /// Takes one change, because the next must be judged against its effects, and returns whether it
  /// was made. Its caller is answered after the step.
  bool take(Lock& lock);
  /// Makes the changes that the journal of an earlier service has, and whose records it did not
  /// write.
  Result<void> apply_journal();
  /// Refuses all requests from now on.
  void close() { inbox_.close(); }

 private:
  /// The jobs that a request changes, and the records of the first of them as they become.
  struct Judged {
    std::vector<store::JobNumber> jobs{};  // in order
    std::map<store::JobNumber, store::Job> first{};
  };

  Result<void> make(Lock& lock, const PlanChange& plan);
  /// Returns its number in the journal; 0 = all of it is on the disk.
  Result<service::Journal::Number> make(Lock& lock, Request request);
  /// Returns a job that `caller` may change and that has not ended.
  Result<Entry*> find_own(store::JobNumber number, const service::Caller& caller);
  /// Fails if one of the jobs may not be changed; of several, those that have ended are left alone.
  /// Looks up those that have ended and run again.
  Result<Judged> judge(Request& request);
  /// Fails if a job may not be amended so.
  Result<void> may_amend(const store::Job& job, const Request& request);
  /// Fails if a job that has ended may not run again.
  Result<void> may_run_again(store::JobNumber number, Request& request);
  /// Makes a change that the journal has. `ended`: the records of jobs that run again.
  void apply(const service::Wish& wish, const std::map<store::JobNumber, store::Job>& ended);
  void amend(Entry& entry, store::Job after, const service::Wish& wish);
  /// Puts a job that has ended back into the book.
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
