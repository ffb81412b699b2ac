// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the TACC Lonestar6 A100 log: Slurm jobs with names, time limits and true queueing.
///
/// The log has exit codes ("code:signal") instead of states: 0:0 is COMPLETED, or TIMEOUT if the
/// run reached the time limit; a signal alone is CANCELLED; any other code is FAILED. A job with
/// 0:0 whose start is its end never started: Slurm records jobs so that were cancelled in the
/// queue.
///
/// Source   Ding et al., SC'23 (Mirage).
#include "text/number.h"
#include "trace/table_format.h"

namespace almanac::trace {

void register_tacc(Formats& registry);

namespace {

enum TaccExtra { kExitCode };

std::string finish_tacc(Draft& draft, Intake&) {
  const std::string_view exit = draft.extras[kExitCode];
  if (exit.empty()) return {};
  const auto colon = exit.find(':');
  const auto code = text::parse_whole(exit.substr(0, colon));
  const auto signal = colon == std::string_view::npos ? std::optional<std::int64_t>(0)
                                                      : text::parse_whole(exit.substr(colon + 1));
  if (!code || !signal) {
    return "exit_code must be code:signal, found \"" + std::string(exit.substr(0, 60)) + "\"";
  }
  const Duration limit = draft.job.request.time_limit;
  Outcome& outcome = draft.job.outcome;
  if (*code != 0) {
    outcome.state = JobState::failed;
  } else if (*signal != 0 || (outcome.start != kNoTime && outcome.start == outcome.end &&
                              outcome.run <= Duration::zero())) {
    outcome.state = JobState::cancelled;
  } else if (limit != kNoDuration && outcome.run != kNoDuration && outcome.run >= limit) {
    outcome.state = JobState::timeout;
  } else {
    outcome.state = JobState::completed;
  }
  return {};
}

}  // namespace

void register_tacc(Formats& registry) {
  TableFormat format;
  format.name = "tacc";
  format.summary = "TACC Lonestar6 A100 log of Slurm jobs (Mirage, SC'23)";
  format.map.columns = {
      {"job_id", "job_id", true},  {"submit_s", "submit_time", true},
      {"run_s", "duration", true}, {"gpus", "gpu_num", true},
      {"name", "job_name"},        {"user", "user"},
      {"start_s", "start_time"},   {"end_s", "end_time"},
      {"nodes", "node_num"},       {"time_limit_s", "timelimit_min", false, Unit::min},
      {"wait_s", "queue"},
  };
  format.extras = {"exit_code"};
  format.ignored = {"priority"};
  format.marks = {"exit_code", "timelimit_min"};
  format.finish = finish_tacc;
  registry.add(as_format(std::move(format)));
}

}  // namespace almanac::trace
