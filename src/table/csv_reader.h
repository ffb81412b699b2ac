// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads tables of text: CSV (RFC 4180), and the same with other delimiters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "table/lines.h"
#include "table/rows.h"

namespace almanac::table {

/// Returns the delimiter of a table with that header: the most frequent of , ; | and tab outside
/// quotes; a comma if there is none.
char delimiter_of(std::string_view header);

/// A table with a header line. Blanks around fields are removed, except inside quotes. Blank lines
/// are skipped.
///
/// Delimiters: ',' ';' and tab with quotes; '|' without.
/// Cost: about 2 ns per byte, no allocation per row.
class CsvReader final : public Rows {
 public:
  /// Reads the header. Fails with not_found, corrupt, or invalid if two columns have the same name.
  static Result<CsvReader> open(const std::string& path, char delimiter = ',');
  /// Like open(), with the delimiter found in the header (delimiter_of()).
  static Result<CsvReader> open_any(const std::string& path);

  /// Fails with invalid if a row has too few or too many fields, and with corrupt if the file is
  /// damaged or a quote is never closed.
  Result<bool> next() override;
  Where where() const override { return {lines_.path(), line_}; }

 private:
  using Split = void (*)(char*, std::vector<std::string_view>&);

  CsvReader(Lines lines, char delimiter);
  Result<char*> next_record();

  Lines lines_;
  Split split_;
  bool quotes_;
  std::string joined_;  // a record whose quotes span lines
};

}  // namespace almanac::table
