// SPDX-License-Identifier: Apache-2.0

/// \file
/// The life cycle of a job: how each event changes its record.
///
/// Pure functions. The result depends only on the record (in the store), the state of the process
/// (in the folder of its run) and the event. A service that restarts therefore continues as the
/// previous one would have.
///
///     waits ---Started---> starts ---(its process is there)---> runs
///       ^  <---Stopped----   |                                   |
///       |                    | Cancelled, Ended                  | Gone
///       +---- runs again ----+---------------> has ended <-------+
///
/// A job that was stopped while running waits, or starts again, alongside its former process until
/// that has exited. `intent` in the record says what should become of an existing process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "cluster/ledger.h"
#include "shepherd/run.h"
#include "store/job.h"
#include "store/store.h"

namespace almanac::machine {

/// The process of a job.
enum class Process : std::uint8_t {
  none,
  own,     ///< The process of the current run.
  former,  ///< The process of a run that was stopped; it must exit.
};

/// Events in the life of a job.
namespace life {

struct Cancelled {
  std::string why{};
  bool at_once = false;  ///< Without grace period.
};
struct Held {};
struct Released {};
struct Requeued {
  std::string by{};  ///< Who requeued it, in words.
};
/// The policy gives a waiting job these GPUs.
struct Started {
  std::vector<cluster::Grant> grants{};
};
/// The policy takes the GPUs back, from a job that starts or runs.
struct Stopped {
  Duration attained{};  ///< Run time so far, as the policy counts it.
};
/// The policy no longer wants the job.
struct Dismissed {
  std::string why{};
  Duration attained{};
};
/// Its process must end, and a new one must start on what the job holds now.
struct Renewed {
  std::string why{};
};
/// The start of a job failed before any of its commands ran.
struct NotStarted {
  std::string why{};
  /// The next try; kNoTime: as soon as something else allows it.
  Time again_at = kNoTime;
  bool gives_up = false;  ///< There will be no other try.
};
/// There is no process, and there will be none.
struct Ended {
  trace::JobState state{};
  std::string why{};
};
/// The process has exited.
struct Gone {
  shepherd::Outcome how{};
  Time at{};
  /// The service killed it directly, because its shepherd did not end it in time.
  bool is_late = false;
  Duration retry_pause{};  ///< Before the first retry of a failed job.
  NotStarted trouble{};    ///< For a job that never started.
};
/// The service has started, and knows the state of the process.
struct TakenOver {};

using Event = std::variant<Cancelled, Held, Released, Requeued, Started, Stopped, Dismissed,
                           Renewed, NotStarted, Ended, Gone, TakenOver>;

}  // namespace life

/// The new state of a job.
struct Next {
  store::Job job{};
  Process process = Process::none;
  bool is_told = false;  ///< Whether to ask its process to end, as the record says.
  bool is_anew = false;  ///< Whether it waits as if it had never run.
  std::string what{};    ///< Note to add; "" for none.
  std::string detail{};
};

/// Returns the new state; nothing if the event changes nothing.
std::optional<Next> next(const store::Job& job, Process process, const life::Event& event,
                         Time now);

/// Reason of a job that ended because its policy no longer wanted it.
inline constexpr const char* kEndedByPolicy = "ended by the policy";
/// Reason of a job that never ran because its policy rejected it.
inline constexpr const char* kDeclinedByPolicy = "turned away by the policy";

/// Whether the job ends, or runs again, once its process has exited.
inline bool awaits_its_end(const store::Job& job) { return job.intent != store::Intent::none; }
/// Whether the policy has started the job, and it has no process yet.
bool starts(const store::Job& job, Process process);
/// Returns the record as users see it: a job without a process is pending, whatever its policy has
/// granted.
store::Job as_seen(const store::Job& job, Process process);

/// Returns when a run that began at `since` ended: now, or earlier if no service was running. The
/// shepherd reports the end by the wall clock, which our time may be ahead of. If the wall clock
/// was set forward meanwhile, the end is `since` plus the run time by the monotonic clock.
Time ended_at(const shepherd::Exit& exit, Time since, Time now, Time wall);
/// Returns the pause before the next retry: `first`, doubled for each further failure, at most an
/// hour.
Duration pause_after(std::int32_t failures, Duration first);

store::Note note_of(const store::Job& job, Time now, std::string what, std::string detail = {});

}  // namespace almanac::machine
