// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads tables of text: CSV as RFC 4180 has it, and its relatives with other delimiters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "table/lines.h"

namespace almanac::table {

/// The delimiter of a table with that header: of , ; | and tab the one that stands in it most often
/// outside quotes; a comma if none does.
char delimiter_of(std::string_view header);

/// A table with a header line. Blanks around fields are dropped, inside quotes they are kept;
/// blank lines are skipped.
///
/// Delimiters: ',' ';' and tab with quotes; '|' without, for Slurm writes quotes as they are.
/// Cost: about 2 ns a byte, no allocation a row.
class CsvReader {
 public:
  /// Reads the header. Fails with not_found, corrupt, or invalid for a header that names a column
  /// twice.
  static Result<CsvReader> open(const std::string& path, char delimiter = ',');
  /// The same with the delimiter that its header shows (delimiter_of).
  static Result<CsvReader> open_any(const std::string& path);

  const std::vector<std::string>& header() const { return header_; }
  /// The position of a column, if the table has it.
  std::optional<std::size_t> find(std::string_view column) const;

  /// From now on a row with more fields than the header has them in this column: its text holds the
  /// delimiter. For delimiters without quotes.
  void join_surplus_into(std::size_t column) { free_ = column; }

  /// Goes to the next row; false at the end. After invalid (too few or too many fields) reading can
  /// go on with the row behind; after corrupt (damage, a quote that never closes) it cannot.
  Result<bool> next();
  /// A field of the row. Valid until next().
  std::string_view operator[](std::size_t column) const { return fields_[column]; }
  /// The line that the row starts in, from 1.
  std::int64_t line() const { return line_; }
  Where where() const { return {lines_.path(), line_}; }

 private:
  using Split = void (*)(char*, std::vector<std::string_view>&);

  CsvReader(Lines lines, char delimiter);
  Result<char*> next_record();
  void join_surplus();

  Lines lines_;
  Split split_;
  char delimiter_;
  bool quotes_;
  std::vector<std::string> header_;
  std::vector<std::string_view> fields_;
  std::string joined_;  // a record whose quotes span lines
  std::int64_t line_ = 0;
  std::optional<std::size_t> free_;
};

}  // namespace almanac::table
