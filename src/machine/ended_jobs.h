// SPDX-License-Identifier: Apache-2.0

/// \file
/// How jobs ended that only the store has.
///
/// The deciding thread must not read thousands of them. So a caller reads them before it asks for a
/// change, and the deciding thread uses what the caller read unless it has changed meanwhile.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "service/clock.h"
#include "store/store.h"

namespace almanac::machine {

/// What the store said of jobs that have ended, when a caller read it.
struct LookedUp {
  Duration at{};                            ///< Since boot.
  std::map<store::JobNumber, bool> well{};  ///< Whether each ended well.
  std::map<store::JobNumber, store::Job> jobs{};
};

class EndedJobs {
 public:
  /// Both must outlive it.
  EndedJobs(const store::Store& store, const service::Clock& clock)
      : store_(store), clock_(clock) {}

  /// Reads how the jobs ended that `asked` depends on. Any thread.
  LookedUp look_up_prerequisites(const store::Submission& asked) const;
  /// Reads those of `numbers`, which are sorted, that have ended, without what they run. Any
  /// thread.
  Result<LookedUp> look_up(const std::vector<store::JobNumber>& numbers) const;

  /// Whether `looked_up` is still true of a job, or of an array.
  bool is_current(const LookedUp& looked_up, store::JobNumber number) const;
  /// Notes that a job has left the book, or has come back to it.
  void note_move(const store::Job& job);
  /// Forgets moves of more than some minutes ago, to which no caller refers any more.
  void forget_old_moves();

  /// Answers ended_well() from `looked_up` as far as it is true; null = from the store alone.
  void consult(const LookedUp* looked_up) { consulted_ = looked_up; }
  /// Whether a job ended well, or all tasks of an array that have ended; nothing = there is none.
  std::optional<bool> ended_well(store::JobNumber number) const;

 private:
  const store::Store& store_;
  const service::Clock& clock_;
  const LookedUp* consulted_ = nullptr;
  std::map<store::JobNumber, Duration> moved_;  // since boot; of jobs and arrays
};

}  // namespace almanac::machine
