// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job's life: what its record becomes by each thing that can happen to it.
///
/// Pure. All that decides is in the record, which the store has, in what there is of the job as a
/// process, which the folder of its run tells, and in the event. So a service that begins again
/// goes on as the one before would have.
///
///     waits ---Started---> starts ---(its process is there)---> runs
///       ^  <---Stopped----   |                                   |
///       |                    | Cancelled, Ended                  | Gone
///       +---- runs again ----+---------------> has ended <-------+
///
/// A job that was stopped while it ran waits, or starts again, beside its former process, until
/// that has gone. What is wanted of a process that is there is the record's `intent`.
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

/// What there is of a job as a process.
enum class Process : std::uint8_t {
  none,
  own,     ///< That of its present run.
  former,  ///< That of a run that was stopped: it makes room.
};

/// What can happen to a job.
namespace life {

struct Cancelled {
  std::string why{};
  bool at_once = false;  ///< Without grace.
};
struct Held {};
struct Released {};
struct Requeued {
  std::string by{};  ///< In words.
};
/// The policy gives it these. Of a job that waits.
struct Started {
  std::vector<cluster::Grant> grants{};
};
/// The policy takes them back. Of one that starts or runs.
struct Stopped {
  Duration attained{};  ///< Run so far, as the policy counts it.
};
/// The policy wants it no more.
struct Dismissed {
  std::string why{};
  Duration attained{};
};
/// Its process is to end, and another to begin on what the job holds now.
struct Renewed {
  std::string why{};
};
/// Its start failed before anything of it ran. Of one that starts.
struct NotStarted {
  std::string why{};
  Time again_at = kNoTime;  ///< The next try; kNoTime = as soon as something else allows.
  bool gives_up = false;    ///< There is none.
};
/// There is no process, nor will be one.
struct Ended {
  trace::JobState state{};
  std::string why{};
};
/// Its process has gone.
struct Gone {
  shepherd::Outcome how{};
  Time at{};
  bool is_late = false;    ///< It was killed past its shepherd, which did not end it in time.
  Duration retry_pause{};  ///< Before the first retry of a job that fails.
  NotStarted trouble{};    ///< Of one that never started.
};
/// The service begins, and knows what there is of its process.
struct TakenOver {};

using Event = std::variant<Cancelled, Held, Released, Requeued, Started, Stopped, Dismissed,
                           Renewed, NotStarted, Ended, Gone, TakenOver>;

}  // namespace life

/// What a job has become.
struct Next {
  store::Job job{};
  Process process = Process::none;
  bool is_told = false;  ///< Its process is to be told to end, as the record has it.
  bool is_anew = false;  ///< It waits as if it had never run.
  std::string what{};    ///< The note on it; "" = there is none.
  std::string detail{};
};

/// Nothing = it stays as it is.
std::optional<Next> next(const store::Job& job, Process process, const life::Event& event,
                         Time now);

/// Why a job ended that its policy wanted no more.
inline constexpr const char* kEndedByPolicy = "ended by the policy";
/// Why a job never ran that its policy turned away.
inline constexpr const char* kDeclinedByPolicy = "turned away by the policy";

/// It is to end, or to run again, once its process has gone.
inline bool awaits_its_end(const store::Job& job) { return job.intent != store::Intent::none; }
/// It runs as its policy sees it, and has no process yet.
bool starts(const store::Job& job, Process process);
/// As its user sees it: a job of which nothing runs yet waits, whatever its policy has given it.
store::Job as_seen(const store::Job& job, Process process);

/// When a run ended that began at `since`: now, or long ago if no service was there to see it. The
/// shepherd tells it by the wall's clock, which ours may be ahead of; where that was set ahead
/// meanwhile, it ended as long after its begin as it ran by a clock that is never set.
Time ended_at(const shepherd::Exit& exit, Time since, Time now, Time wall);
/// Before the retry after so many failures: `first`, twice as long each time, an hour at most.
Duration pause_after(std::int32_t failures, Duration first);

store::Note note_of(const store::Job& job, Time now, std::string what, std::string detail = {});

}  // namespace almanac::machine
