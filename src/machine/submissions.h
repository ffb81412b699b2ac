// SPDX-License-Identifier: Apache-2.0

/// \file
/// New jobs. Several submissions share one commit. The commit has the first tasks of a long array;
/// the journal has the others, whose records are written some at a time, so that other users do not
/// wait for them.
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

  /// As service::Service has them. Any thread.
  Result<std::vector<store::JobNumber>> submit(store::Submission submission);
  Result<void> judge(store::Submission submission);

  /// Takes all submissions that have come.
  void take(Lock& lock);
  /// Refuses all submissions from now on.
  void close() { inbox_.close(); }

  std::int64_t last_number() const { return last_number_; }
  /// Gives the next job a larger number than `last`.
  void begin_after(store::JobNumber last) { last_number_ = static_cast<std::int64_t>(last); }
  /// Reads the journal of an earlier service, and adds the jobs that it alone has.
  Result<void> read_journal();

 private:
  struct Entrant {
    store::Submission asked;
    bool is_judged_only = false;
    LookedUp looked_up{};
  };
  using Inbox = service::Inbox<Entrant, std::vector<store::JobNumber>>;
  /// A submission that was let in.
  struct Enlisted {
    Inbox::Request request;
    std::vector<store::Job> jobs;
    service::Journal::Number later = 0;  // the wish for the tasks that are not in the batch
  };

  /// Lets a submission in, with its records in `batch`; nothing = it was answered, or comes again.
  std::optional<Enlisted> let_in(Inbox::Request request, store::Store::Batch& batch);
  /// Makes the jobs of a submission. Fails if they can never run here.
  Result<std::vector<store::Job>> enlist(const Entrant& entrant);
  /// Adds the jobs of a submission that is on the disk, and answers its caller.
  void add(Enlisted enlisted);
  /// Takes back a submission that the disk refused.
  void take_back(Enlisted enlisted, const Error& why);
  /// Returns the numbers of what was submitted with the same key; none = it is new.
  Result<std::vector<store::JobNumber>> numbers_of_same(const store::Submission& asked) const;
  /// Has the record of a new job, which the journal has, written later.
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
