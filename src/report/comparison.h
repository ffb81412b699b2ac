// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shows policies side by side in a terminal.
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

inline constexpr std::string_view kWhatInterruptedIs =
    "An interrupted row covers only the jobs submitted until then, so it is not compared.";

/// A row for each policy, with times as people read them ("2h 07m") and how many times shorter the
/// average wait is than under the first policy. Oracles, interrupted runs and what was recorded are
/// marked, and are never the best of a column. Files have the names and units of summary.json.
figure::Listing comparison_rows(const std::vector<experiment::Summary>& summaries);

/// What a reader must know next to that table: a line for each thing, "" without any.
std::string comparison_notes(const std::vector<experiment::Summary>& summaries);

/// "speech lent 91 GPU-hours to vision, ...": the largest four of half an hour or more; "" without.
std::string loans_in_words(const std::vector<experiment::TenantLoan>& loans);

/// "share error 7 %, Jain 0.93, worst off tenant vision: 71 % of its fair share, finish-time
/// ratio 1.32", and who lent to whom; "" where there are not two owners.
std::string fairness_in_words(const experiment::Summary& summary);

/// How close the policies come to what the log says happened; nothing where there is no recorded
/// row, or no policy that could have made it.
std::optional<figure::Finding> how_well_reproduced(
    const std::vector<experiment::Summary>& summaries);

}  // namespace almanac::report
