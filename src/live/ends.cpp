// SPDX-License-Identifier: Apache-2.0
#include "live/ends.h"

#include <utility>

#include <fmt/format.h>

namespace almanac::live {

using trace::JobState;

bool has_ended(const store::Job& job) {
  return job.state != JobState::pending && job.state != JobState::running;
}

store::Job ended(store::Job job, JobState state, const std::string& reason, Time at) {
  job.state = state;
  job.end = at;
  job.reason = reason;
  return job;
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
