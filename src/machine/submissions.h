// SPDX-License-Identifier: Apache-2.0

/// \file
/// New jobs. Several submissions share one commit. For a long array, the commit has the first tasks
/// and the journal has the rest, whose records are written gradually so that other users need not
/// wait.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/answers.h"
#include "machine/limits.h"
#include "machine/queue.h"
#include "machine/saving.h"
#include "machine/state.h"
#include "service/inbox.h"
#include "service/journal.h"

namespace almanac::machine {

class Submissions {
 public:
  Submissions(State& state, Queue& queue, Gate& gate, Saving& saving, Answers& answers)
      : state_(state), queue_(queue), gate_(gate), saving_(saving), answers_(answers) {}

  /// See service::Service. Any thread.
  Result<std::vector<store::JobNumber>> submit(store::Submission submission);
  Result<void> judge(store::Submission submission);

  /// Accepts all submissions that have arrived.
  void take(Lock& lock);
  /// Refuses all submissions from now on.
  void close() { inbox_.close(); }

  std::int64_t last_number() const { return last_number_; }
  /// Makes the next job number larger than `last`.
  void begin_after(store::JobNumber last) { last_number_ = static_cast<std::int64_t>(last); }
  /// Reads the journal of an earlier service, and adds the jobs that only it has.
  Result<void> read_journal();

 private:
  struct Entrant {
    store::Submission asked;
    bool is_judged_only = false;
    LookedUp looked_up{};
  };
  using Inbox = service::Inbox<Entrant, std::vector<store::JobNumber>>;
  /// An accepted submission.
  struct Enlisted {
    Inbox::Request request;
    std::vector<store::Job> jobs;
    service::Journal::Number later = 0;  // the request for tasks that are not in the batch
  };

  /// Accepts a submission, with its records in `batch`; nothing if it was answered or is a repeat.
  std::optional<Enlisted> let_in(Inbox::Request request, store::Store::Batch& batch);
  /// Creates the jobs of a submission. Fails if they can never run here.
  Result<std::vector<store::Job>> enlist(const Entrant& entrant);
  /// Adds the jobs of a submission that is on disk, and answers its caller.
  void add(Enlisted enlisted);
  /// Rolls back a submission that the disk refused.
  void take_back(Enlisted enlisted, const Error& why);
  /// Returns the numbers of the jobs submitted with the same key; empty if there are none.
  Result<std::vector<store::JobNumber>> numbers_of_same(const store::Submission& asked) const;
  /// Schedules the record of a new job, which the journal has, for writing later.
  void cover(const store::Job& job, Time at);
  /// Adds the tasks of an array whose records an earlier service did not write.
  Result<void> restore_tasks(const service::Wish& wish);

  State& state_;
  Queue& queue_;
  Gate& gate_;
  Saving& saving_;
  Answers& answers_;
  std::int64_t last_number_ = 0;
  Inbox inbox_{state_.bell};
};

}  // namespace almanac::machine
