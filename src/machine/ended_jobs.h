// SPDX-License-Identifier: Apache-2.0

/// \file
/// The outcomes of jobs that only the store still has.
///
/// The deciding thread must not read thousands of them. So the caller of a change reads them first,
/// and the deciding thread uses what the caller read unless it has changed meanwhile.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "service/clock.h"
#include "store/store.h"

namespace almanac::machine {

/// What the store said about ended jobs when a caller read it.
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

  /// Reads the outcomes of the ended jobs that `asked` depends on. Any thread.
  LookedUp look_up_prerequisites(const store::Submission& asked) const;
  /// Reads the outcomes of those of `numbers` (sorted) that have ended, without script and
  /// environment. Any thread.
  Result<LookedUp> look_up(const std::vector<store::JobNumber>& numbers) const;

  /// Whether `looked_up` is still valid for a job or an array.
  bool is_current(const LookedUp& looked_up, store::JobNumber number) const;
  /// Records that a job has left the book, or has returned to it.
  void note_move(const store::Job& job);
  /// Forgets moves older than some minutes, which no caller needs any more.
  void forget_old_moves();

  /// Lets ended_well() use `looked_up` while it is valid; null to use only the store.
  void consult(const LookedUp* looked_up) { consulted_ = looked_up; }
  /// Whether a job ended well; for an array, all tasks that have ended. Nothing if there is no such
  /// job.
  std::optional<bool> ended_well(store::JobNumber number) const;

 private:
  const store::Store& store_;
  const service::Clock& clock_;
  const LookedUp* consulted_ = nullptr;
  std::map<store::JobNumber, Duration> moved_;  // since boot; of jobs and arrays
};

}  // namespace almanac::machine
