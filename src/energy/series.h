// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads time series: what was measured, brought to equal steps.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace almanac::energy {

/// The steps of Helios' node series (Hu et al., SC'21, section 4.3): finer series are joined to it.
inline constexpr Duration kUsualStep = 10min;

struct SeriesOptions {
  std::string time_column{};  ///< "" to detect it by its content.
  Duration step{0};           ///< 0 for the file's own step, at least kUsualStep.
  /// Time of the first row, if the file has no times; needs `step`.
  Time start = kNoTime;
};

/// Columns over equal steps; row i is [start + i * step, start + (i + 1) * step).
struct Series {
  Time start{};
  Duration step{0};
  std::vector<std::vector<double>> columns;  ///< In the requested order; NaN if not measured.
  std::vector<std::string> notes;            ///< Notes for the user, one line each.

  std::size_t size() const { return columns.empty() ? 0 : columns.front().size(); }
  Time at(std::size_t row) const { return start + step * static_cast<std::int64_t>(row); }
};

/// Reads `columns` of the CSV file `path`. Rows may come at any times and in any order: a step's
/// value is the greatest of its rows, for nodes that were needed at any moment were needed. A step
/// without rows keeps the value before it for up to an hour; longer gaps are NaN.
///
/// The time column is the first that holds dates in every row, else the first called like one
/// ("time", "time_s", "timestamp", "date") that holds numbers: seconds. Fails with invalid for a
/// column that is missing (naming those there are), a cell without a number, a file without rows,
/// or times that are centuries apart.
///
/// Source   CES_Helios.py of the Helios artifact: per-minute values, `resample('10T').max()`.
Result<Series> read_series(const std::string& path, const std::vector<std::string>& columns,
                           const SeriesOptions& options);

}  // namespace almanac::energy
