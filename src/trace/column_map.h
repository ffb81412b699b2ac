// SPDX-License-Identifier: Apache-2.0

/// \file
/// Says which column of a table means what: the description that every CSV reader runs on. The
/// known formats write theirs down in C++, users write theirs in TOML (docs/reference/formats.md).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/field.h"

namespace almanac::trace {

/// How a time or a length of time is written.
enum class Unit {
  any,   ///< Times: a date with time, or seconds, but all in one way. Lengths: seconds.
  date,  ///< "2020-05-27 23:58:26", UTC.
  ms,
  s,
  min,
  h,
  d,      ///< A number of these; times count from the epoch or any other zero.
  clock,  ///< Lengths only: "1-02:03:04", "1 day, 2:03:04", "90s".
};

struct Column {
  Field field;
  std::string name{};     ///< In the header of the table.
  bool required = false;  ///< Some column of this field must be there, and filled in every row.
  Unit unit = Unit::any;
  double scale = 1;  ///< Multiplies numbers: 0.001 makes cores of millicores.
  /// Columns whose numbers multiply this one's: GPUs of a worker by workers.
  std::vector<std::string> times{};
};

struct ColumnMap {
  char delimiter = '\0';                     ///< NUL = found in the header.
  std::vector<Column> columns{};             ///< The first of a field that the table has is taken.
  std::map<Field, std::string> constants{};  ///< For fields without a column.
  std::map<std::string, JobState, std::less<>> states{};  ///< Words besides the usual ones.

  const Column* find(Field field) const;
};

/// Reads a column map from a TOML file. Fails with invalid, naming the line.
Result<ColumnMap> load_column_map(const std::string& path);

}  // namespace almanac::trace
