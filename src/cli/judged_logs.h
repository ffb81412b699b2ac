// SPDX-License-Identifier: Apache-2.0

/// \file
/// The logs of failed jobs, judged and joined with their trace: what `study` and `study failures`
/// share.
#pragma once

#include <string>
#include <vector>

#include "failure/folder.h"
#include "study/failure_table.h"

namespace almanac::cli {

struct JudgedLogs {
  failure::RuleSet rules;
  std::vector<failure::JudgedLog> logs;
  study::FailureTrials trials;
  study::Drawing drawing;  ///< The table and what it says.
};

/// Judges the logs below `folder` by the built-in rules and those of the file `rules` ("" = none);
/// `trace` may be null. What could not be read of a log is noted on stderr.
Result<JudgedLogs> judge_logs(const std::string& folder, const std::string& rules,
                              const trace::Trace* trace);

}  // namespace almanac::cli
