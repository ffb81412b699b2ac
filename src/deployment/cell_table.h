// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rows of a table that needs some columns, and what is wrong with a cell in one line.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "table/csv_reader.h"

namespace almanac::deployment {

class CellTable {
 public:
  /// The greatest number that a cell may have.
  static constexpr double kMost = 1e9;
  /// Fails with `not_found`, and with `invalid` if one of `needed` is not a column.
  static Result<CellTable> open(const std::string& path, const std::vector<std::string>& needed);
  Result<bool> next() { return reader_.next(); }
  std::string_view text(const std::string& column) const;
  /// Returns a number from `least` to `most`; `otherwise` if the column or the cell is missing.
  Result<double> number(const std::string& column, double least, double most = kMost,
                        double otherwise = std::nan("")) const;
  /// Returns a whole number from `least` to `most`.
  Result<int> whole_number(const std::string& column, int least, int most) const;
  tl::unexpected<Error> wrong(std::string message) const;

 private:
  explicit CellTable(table::CsvReader reader) : reader_(std::move(reader)) {}
  table::CsvReader reader_;
};

}  // namespace almanac::deployment
