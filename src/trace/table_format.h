// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads job logs that are tables: one row a job, a header that names the columns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "table/rows.h"
#include "trace/cell.h"
#include "trace/column_map.h"
#include "trace/format.h"
#include "trace/intake.h"

namespace almanac::trace {

/// A table format: a column map, and what a map cannot say.
struct TableFormat {
  std::string name{};
  std::string summary{};
  ColumnMap map{};
  /// Columns that only this format has. A table without any of them has another format. Empty if
  /// the names of `map` are enough.
  std::vector<std::string> marks{};
  bool is_plain = false;  ///< A table of nothing but its columns needs no mark.
  RunTimes run_times = RunTimes::recorded;
  std::vector<std::string> extras{};   ///< Columns that finish() looks at.
  std::size_t needed_extras = 0;       ///< One of the first this many extras is required.
  std::vector<std::string> ignored{};  ///< Columns that are known and not needed.
  bool numbers_rows = false;           ///< Rows without an id get the row number as id.
  std::string command{};  ///< Command that prints all columns; shown if one is missing.
  /// Opens the table; empty for CSV with the map's delimiter.
  std::function<Result<std::unique_ptr<table::Rows>>(const std::string& path)> open{};
  /// Completes a row; a message instead of "" refuses it.
  std::function<std::string(Draft&, Intake&)> finish{};
  /// Looks at the whole trace before ids are checked and jobs sorted.
  std::function<void(Intake&)> conclude{};
};

/// The share of the header's columns that `format` knows.
double resemblance(const TableFormat& format, const Head& head);
/// Same, but 0 for a table without any mark of the format.
double likeness(const TableFormat& format, const Head& head);

/// Reads the table at `path` into `intake`.
Result<void> read_table(const TableFormat& format, const std::string& path, Intake& intake);

/// The Format that the registry wants.
Format as_format(TableFormat format);

}  // namespace almanac::trace
