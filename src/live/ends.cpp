// SPDX-License-Identifier: Apache-2.0
#include "live/ends.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace almanac::live {

using trace::JobState;

Time ended_at(const shepherd::Exit& exit, Time since, Time now, Time wall) {
  constexpr Duration kAtOnce = 1s;
  constexpr Duration kUnset = 1min;
  if (exit.end - exit.start - exit.ran > kUnset) return std::min(since + exit.ran, now);
  const Duration ago = wall - exit.end;
  return ago > kAtOnce ? std::max(since, now - ago) : now;
}

Next next(const Intent& wanted, const shepherd::Outcome& how) {
  using shepherd::Cause;
  using Kind = Next::Kind;
  const auto ends = [](JobState state, std::string why) {
    return Next{Kind::ends, state, std::move(why)};
  };
  const auto begins_again = [](std::string why) {
    return Next{Kind::begins_again, {}, std::move(why)};
  };
  if (wanted.has_ended) return {};
  const bool only_stopped = wanted.makes_room && wanted.to_end.empty() && !wanted.again;
  const bool by_order = !how.exit || how.exit->cause == Cause::told;
  if (only_stopped && by_order) return {.kind = Kind::waits, .why = "stopped"};
  if (!how.exit) {
    // Nothing of it runs any more, and that is what was wanted.
    if (!wanted.to_end.empty()) return ends(JobState::cancelled, wanted.to_end);
    if (wanted.is_late && !wanted.again) return ends(JobState::timeout, "over its time limit");
    const bool untried = how.kind == shepherd::Outcome::Kind::never_started;
    const bool again = untried || wanted.again || wanted.may_run_again;
    return again ? begins_again(how.why) : ends(JobState::node_fail, how.why);
  }
  if (wanted.again) return begins_again("requeued");
  if (how.exit->cause == Cause::told && wanted.to_end.empty()) {
    // Not by us: the machine was going down.
    constexpr const char* kOutside = "ended from outside";
    return wanted.may_run_again ? begins_again(kOutside) : ends(JobState::node_fail, kOutside);
  }
  const auto fails = [&](std::string why) {
    const auto kind = wanted.retries > 0 ? Kind::tries_again : Kind::ends;
    return Next{kind, JobState::failed, std::move(why)};
  };
  switch (how.exit->cause) {
    case Cause::by_itself:
      return how.exit->ending.good() ? ends(JobState::completed, "")
                                     : fails(to_string(how.exit->ending));
    case Cause::told:
      return ends(JobState::cancelled, wanted.to_end);
    case Cause::time_limit:
      return ends(JobState::timeout, "over its time limit");
    case Cause::memory:
      return fails("out of memory");
    case Cause::cannot_start:
      return ends(JobState::failed, fmt::format("cannot start: {}", how.exit->message));
  }
  return {};
}

bool has_ended(const store::Job& job) {
  return job.state != JobState::pending && job.state != JobState::running;
}

store::Job ended(store::Job job, JobState state, const std::string& reason, Time at) {
  job.state = state;
  job.end = at;
  job.reason = reason;
  return job;
}

Duration pause_after(std::int32_t failures, Duration first) {
  constexpr Duration kAtMost = 1h;
  constexpr std::int32_t kDoublings = 16;
  return std::min(first * (1 << std::clamp(failures - 1, 0, kDoublings)), kAtMost);
}

store::Job begun_again(store::Job job, Time now) {
  job.annulled = job.attempts;
  job.state = JobState::pending;
  job.since = now;
  job.start = kNoTime;
  job.end = kNoTime;
  job.attained = Duration{0};
  job.exit_status.reset();
  job.signal = 0;
  job.reason.clear();
  return job;
}

store::Note note_of(const store::Job& job, Time now, std::string what, std::string detail) {
  return {.at = now, .job = job.number, .what = std::move(what), .detail = std::move(detail)};
}

store::Note note_of_end(const store::Job& job, Time now) {
  const std::string_view state = to_string(job.state);
  return note_of(
      job, now, "ended",
      job.reason.empty() ? std::string(state) : fmt::format("{}: {}", state, job.reason));
}

}  // namespace almanac::live
