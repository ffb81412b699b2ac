// SPDX-License-Identifier: Apache-2.0

/// \file
/// Turns the text of one field of a table into what it says about the job.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/column_map.h"
#include "trace/trace.h"

namespace almanac::trace {

/// Reads fields. How the free times of a table are written it learns from the first of them.
class CellReader {
 public:
  CellReader(const ColumnMap& map, Trace& trace) : map_(map), trace_(trace) {}

  /// Stores what `text`, of `column` and not empty, says in `draft`; gives "", or what is wrong
  /// with it. `last` is the caller's, one a column: most rows repeat the text of the row above.
  /// `factor` multiplies a number, besides the column's scale.
  std::string read(const Column& column, std::string_view text, NameId& last, Draft& draft,
                   double factor = 1);
  /// The line that the next fields are in.
  void at_line(std::int64_t line) { line_ = line; }

 private:
  /// A field of `text` with the column that it is in and what its caller passed on.
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
