// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parses one field of a table and stores it in a job.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/column_map.h"
#include "trace/trace.h"

namespace almanac::trace {

/// Parses fields. It learns from the first time with Unit::any how the table writes times.
class CellReader {
 public:
  CellReader(const ColumnMap& map, Trace& trace) : map_(map), trace_(trace) {}

  /// Parses `text`, a field of `column` that is not empty, and stores it in `draft`. Returns "", or
  /// what is wrong with the text. `last` belongs to the caller, one for each column: most rows
  /// repeat the text of the row above. `factor` multiplies a number, in addition to the column's
  /// scale.
  std::string read(const Column& column, std::string_view text, NameId& last, Draft& draft,
                   double factor = 1);
  /// Sets the line of the next fields.
  void at_line(std::int64_t line) { line_ = line; }

 private:
  /// A field, with its column and the caller's arguments.
  struct Cell {
    const Column& column;
    std::string_view text;
    NameId& last;
    Draft& draft;
    double factor;
  };
  std::string read(const Member<JobKey>& member, const Cell& cell);
  std::string read(const Member<NameId>& member, const Cell& cell);
  std::string read(const Member<JobState>& member, const Cell& cell);
  std::string read(const Member<Requeue>& member, const Cell& cell);
  std::string read(const Member<float>& member, const Cell& cell);
  std::string read(const Member<Time>& member, const Cell& cell);
  std::string read(const Member<Duration>& member, const Cell& cell);
  template <typename Whole>
  std::string read(const Member<Whole>& member, const Cell& cell);

  const ColumnMap& map_;
  Trace& trace_;
  std::int64_t line_ = 0;
  Unit style_ = Unit::any;
  std::int64_t style_line_ = 0;
};

}  // namespace almanac::trace
