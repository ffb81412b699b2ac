// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shows policies side by side in a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/summary.h"

namespace almanac::report {

inline constexpr std::string_view kWhatABoundIs =
    "A bound is told true run times, which no real cluster knows: it is there to compare with, not "
    "to choose.";

struct ComparisonOptions {
  bool wide = false;    ///< More columns.
  bool colour = false;  ///< The best of a column in bold.
};

/// A table, one row a policy, with times as people read them ("2h 07m") and how many times shorter
/// the average wait is than under the first policy. What is a bound or was
/// interrupted is marked, and never best in bold.
std::string comparison_table(const std::vector<sim::Summary>& summaries,
                             const ComparisonOptions& options);

/// The same figures as CSV, with the names and units of summary.json.
std::string comparison_csv(const std::vector<sim::Summary>& summaries);

}  // namespace almanac::report
