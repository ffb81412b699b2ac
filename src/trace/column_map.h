// SPDX-License-Identifier: Apache-2.0

/// \file
/// Describes which column of a table has which field; every CSV reader uses such a map. Maps of
/// known formats are in C++, users' own in TOML (docs/reference/formats.md).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/field.h"

namespace almanac::trace {

/// How times and durations are written.
enum class Unit {
  any,   ///< Times: dates with time, or seconds, the same in all rows. Durations: seconds.
  date,  ///< "2020-05-27 23:58:26", UTC.
  ms,
  s,
  min,
  h,
  d,      ///< A number of these; times count from the epoch or from another zero.
  clock,  ///< Durations only: "1-02:03:04", "1 day, 2:03:04", "90s".
};

struct Column {
  Field field;
  std::string name{};     ///< In the header of the table.
  bool required = false;  ///< A column of this field must exist and have a value in every row.
  Unit unit = Unit::any;
  double scale = 1;  ///< Multiplies numbers: 0.001 converts millicores to cores.
  /// Columns whose numbers multiply this column's: GPUs per worker x workers.
  std::vector<std::string> times{};
};

struct ColumnMap {
  char delimiter = '\0';          ///< NUL = found in the header.
  std::vector<Column> columns{};  ///< Of several for a field, the first in the table counts.
  std::map<Field, std::string> constants{};               ///< Values of fields without a column.
  std::map<std::string, JobState, std::less<>> states{};  ///< Additional words for states.

  const Column* find(Field field) const;
};

/// Reads a column map from a TOML file. Fails with invalid, naming the line.
Result<ColumnMap> load_column_map(const std::string& path);

}  // namespace almanac::trace
