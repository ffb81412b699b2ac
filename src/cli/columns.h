// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tables on a terminal: columns as wide as what stands in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace almanac::cli {

struct Column {
  std::string name{};
  bool is_number = false;  ///< Stands to the right.
};

/// The header and a line for each row: two spaces between columns, none at the end.
std::vector<std::string> column_lines(const std::vector<Column>& columns,
                                      const std::vector<std::vector<std::string>>& rows);
/// Prints them.
void print_columns(const std::vector<Column>& columns,
                   const std::vector<std::vector<std::string>>& rows);
/// `value` with so many significant digits; `missing` where it is NaN: "" in CSV.
std::string number_cell(double value, int digits, std::string_view missing = "-");
/// As RFC 4180 has it.
void print_csv(const std::vector<std::string>& header,
               const std::vector<std::vector<std::string>>& rows);

}  // namespace almanac::cli
