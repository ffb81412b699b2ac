// SPDX-License-Identifier: Apache-2.0

/// \file
/// Turns the text of one field of a table into what it says about the job.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trace/column_map.h"
#include "trace/trace.h"

namespace almanac::trace {

/// A row on its way to become a job.
struct Draft {
  Job job{};                    ///< run = kNoDuration until known.
  Duration wait = kNoDuration;  ///< Start minus submission, where the table has that.
  Time eligible = kNoTime;      ///< Since when it could have started.
  bool never_eligible = false;  ///< The table says that it never could.
  Duration gap = kNoDuration;   ///< Since the submission in the row before, likewise.
  bool has_id = false;
  bool is_job = true;                          ///< finish() clears it for rows that are left out.
  std::span<const std::string_view> extras{};  ///< Those of the format, "" where absent.
  std::int64_t row = 0;                        ///< From 1.
};

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
  std::string read_number(const Column& column, std::string_view text, Draft& draft, double factor);
  std::string read_time(const Column& column, std::string_view text, Draft& draft);
  std::string read_length(const Column& column, std::string_view text, Draft& draft, double factor);

  const ColumnMap& map_;
  Trace& trace_;
  std::int64_t line_ = 0;
  Unit style_ = Unit::any;
  std::int64_t style_line_ = 0;
};

}  // namespace almanac::trace
