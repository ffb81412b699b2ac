// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job's record after it has ended, or when it is to begin again; and what is said of that.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "shepherd/run.h"
#include "store/job.h"
#include "store/store.h"

namespace almanac::live {

/// Why a job ended that its policy wanted no more.
inline constexpr const char* kEndedByPolicy = "ended by the policy";
/// Why a job never ran that its policy turned away.
inline constexpr const char* kDeclinedByPolicy = "turned away by the policy";

/// When a run ended that began at `since`: now, or long ago if no service was there to see it. The
/// shepherd tells it by the wall's clock, which ours may be ahead of; where that was set ahead
/// meanwhile, it ended as long after its begin as it ran by a clock that is never set.
Time ended_at(const shepherd::Exit& exit, Time since, Time now, Time wall);

/// What is wanted of a job that has a process.
struct Intent {
  bool has_ended = false;      ///< It ended while its process made room.
  bool makes_room = false;     ///< The policy has stopped it.
  std::string to_end{};        ///< It is to end, and why; "" = it is not.
  bool again = false;          ///< It is to run again from its beginning.
  bool is_late = false;        ///< It was killed past its shepherd, which did not end it in time.
  bool may_run_again = false;  ///< --requeue: also when the machine failed it.
  int retries = 0;             ///< So often it may fail yet and run again.
};

/// What becomes of a job whose process has gone.
struct Next {
  enum class Kind : std::uint8_t {
    nothing,       ///< It has ended already.
    waits,         ///< Or starts again as the policy has it, and keeps what it has done.
    begins_again,  ///< Waits as if it had never run.
    tries_again,   ///< The same, after a while: it failed.
    ends,
  };
  Kind kind = Kind::nothing;
  trace::JobState state{};  ///< Of one that ends.
  std::string why{};

  bool operator==(const Next&) const = default;
};

/// Pure: all that decides is in what was wanted, and is kept in the store, and in what the shepherd
/// said.
Next next(const Intent& wanted, const shepherd::Outcome& how);

bool has_ended(const store::Job& job);
store::Job ended(store::Job job, trace::JobState state, const std::string& reason, Time at);
/// Before the retry after so many failures: `first`, twice as long each time, an hour at most.
Duration pause_after(std::int32_t failures, Duration first);
/// Waits from `now` on as if it had never run; how earlier runs of it end is not asked any more.
store::Job begun_again(store::Job job, Time now);

store::Note note_of(const store::Job& job, Time now, std::string what, std::string detail = {});
store::Note note_of_end(const store::Job& job, Time now);

}  // namespace almanac::live
