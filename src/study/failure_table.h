// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why jobs fail and what that costs, by category.
///
/// Source   Jeon et al., ATC'19, Table 7: trials, jobs, users, run time to failure (RTF), demand,
///          RTF x demand.
/// Differs  Rows are ordered by cost, not by trials; without a trace only trials are counted.
///          Percentiles are interpolated.
#pragma once

#include <span>

#include "failure/folder.h"
#include "study/failure_trials.h"
#include "study/figures.h"
#include "trace/trace.h"

namespace almanac::study {

/// The figure "philly_table7" and what it says in words. The trace is the one that was joined, or
/// null. Trials without a run time count everywhere but in the columns of run time.
Drawing draw_failure_table(const FailureTrials& trials, std::span<const failure::JudgedLog> logs,
                           const failure::RuleSet& set, const trace::Trace* trace);

}  // namespace almanac::study
