// SPDX-License-Identifier: Apache-2.0

/// \file
/// Compares policies in a terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/summary.h"
#include "figure/figure.h"
#include "figure/rows.h"

namespace almanac::report {

inline constexpr std::string_view kWhatAnOracleIs =
    "An oracle uses true run times, which no real cluster knows. It is for comparison only.";

inline constexpr std::string_view kWhatAStopCosts =
    "Preempted jobs resume where they were stopped, as if they wrote a checkpoint then. To count "
    "lost work, give the log a column checkpoint_s.";

inline constexpr std::string_view kWhatInterruptedIs =
    "An interrupted row covers only the jobs submitted until then, so it is not compared.";

/// Returns one row per policy, with times as people read them ("2h 07m") and the factor by which
/// the average wait is shorter than under the first policy. Oracles, interrupted runs and the
/// recorded row are marked and never the best of a column. Files use the names and units of
/// summary.json.
figure::Listing comparison_rows(const std::vector<experiment::Summary>& summaries);

/// Returns the columns that such a table can have, without rows: some depend on the log.
figure::Listing comparison_columns();

/// Returns what a reader must know next to that table, one line each; "" if nothing.
std::string comparison_notes(const std::vector<experiment::Summary>& summaries);

/// Returns, for example, "speech lent 91 GPU-hours to vision, ...": the largest four loans of at
/// least half an hour; "" without any.
std::string loans_in_words(const std::vector<experiment::TenantLoan>& loans);

/// Returns "share error 7 %, Jain 0.93, worst off tenant vision: 71 % of its fair share,
/// finish-time ratio 1.32", then who lent to whom; "" with fewer than two owners.
std::string fairness_in_words(const experiment::Summary& summary);

/// Returns how closely the policies reproduce the log, or nothing without a recorded row or without
/// a policy that could have produced it.
std::optional<figure::Finding> how_well_reproduced(
    const std::vector<experiment::Summary>& summaries);

/// Returns "log" for an axis of positive values that differ by more than a factor of 12, else
/// "linear".
std::string scale_of(const std::vector<double>& values);

}  // namespace almanac::report
