// SPDX-License-Identifier: Apache-2.0

/// \file
/// Joins judged logs with the jobs of a trace: which attempt failed of what, how long it had run,
/// on how many GPUs, and whose it was.
///
/// Source   Jeon et al., ATC'19, section 4.2: a trial is an attempt that failed.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "failure/folder.h"
#include "trace/trace.h"

namespace almanac::study {

/// An attempt that failed, with what all its logs say together.
struct FailedTrial {
  std::size_t log = 0;                 ///< Position of the log that decides.
  std::string job_id{};                ///< "" if its logs name none.
  std::optional<int> attempt{};        ///< Number in its logs.
  std::optional<std::uint32_t> job{};  ///< Position in the trace; nothing if not found there.
  int gpus = 0;
  double runtime_s = std::numeric_limits<double>::quiet_NaN();  ///< To its failure.
};

struct FailureTrials {
  std::vector<FailedTrial> trials{};  ///< In order of their first log.
  bool joined = false;                ///< There was a trace.
  std::int64_t logs = 0;
  std::int64_t logs_joined = 0;  ///< Logs whose job is in the trace.
  std::int64_t succeeded = 0;    ///< Attempts left out: the job completed with them,
  std::int64_t unended = 0;      ///< runs or waits still,
  std::int64_t cancelled = 0;    ///< or was cancelled, and its logs show nothing wrong.
};

/// Joins the logs of one attempt (out and err, ranks) to one trial; the rule with precedence
/// decides.
///
/// Without a trace, every log belongs to a failure. With one, an attempt is left out if its job
/// completed with it, has not ended, or was cancelled without a signature. The run time is that of
/// the attempt, or of a job with only one trial; otherwise missing.
///
/// Cost: about 100 bytes per job of the trace.
FailureTrials join_failures(std::span<const failure::JudgedLog> logs, const failure::RuleSet& set,
                            const trace::Trace* trace);

/// Writes a line for each trial: path, job_id, attempt, category, class, kind, rule, line, quote,
/// suggestion; wholly or not at all.
Result<void> write_verdicts(const std::string& path, const FailureTrials& trials,
                            std::span<const failure::JudgedLog> logs, const failure::RuleSet& set);

}  // namespace almanac::study
