// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the rows that sacct prints: `sacct -P` or `-p`, with any columns and any delimiter except
/// the comma.
///
/// Cells are values (trace/sacct_columns.h): "" for every form of a missing value. Delimiters and
/// newlines inside texts are repaired (trace/sacct_layout.h); a newline becomes a blank. States are
/// the words of trace/sacct_states.h.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "table/lines.h"
#include "table/rows.h"
#include "trace/one_cluster.h"
#include "trace/sacct_layout.h"

namespace almanac::trace {

/// The header of a file: whether sacct wrote it, and what is wrong with it.
struct SacctHeader {
  std::string delimiter{};
  std::vector<std::string> names{};  ///< As sacct spells them.
  std::string trouble{};             ///< Not empty = cannot be read; what is wrong, in a sentence.
};

/// Returns nothing if the line is neither a header of sacct nor a row without one.
std::optional<SacctHeader> sacct_header(std::string_view first_line);

class SacctRows final : public table::Rows {
 public:
  /// `used` names the columns that the caller reads; `steps` says whether it also reads those of
  /// job steps, which otherwise have only an id. `command` is the hint for an unreadable file.
  /// Fails like table::Lines, and with `invalid` for another header than sacct's.
  static Result<std::unique_ptr<SacctRows>> open(const std::string& path,
                                                 const std::vector<std::string>& used, bool steps,
                                                 std::string command);

  /// Fails with `invalid` for a row that cannot be read, that can be read in more than one way, or
  /// that is of another cluster than earlier rows.
  Result<bool> next() override;
  Where where() const override { return {path_, line_}; }
  /// Returns what was repaired or treated as unknown, one line each, with counts.
  std::vector<std::string> notes() const;

 private:
  SacctRows(std::string path, table::Lines lines, SacctHeader header,
            const std::vector<std::string>& used, bool steps, std::string command);

  struct Line {
    std::string text;
    std::int64_t number = 0;
  };

  Result<const Line*> peek(std::size_t ahead);
  bool begins_record(std::string_view line) const;
  Result<SacctLayout::Fit> read_record();
  Result<void> learn();
  Error refusal(SacctLayout::Fit fit) const;
  bool is_step_row() const;
  void take_values();

  std::string path_;
  table::Lines lines_;
  SacctLayout layout_;
  std::string header_line_;
  std::string command_;
  bool steps_;
  std::size_t id_ = 0;                // the column of the id
  std::optional<std::size_t> state_;  // of the state
  std::optional<std::size_t> cluster_column_;
  OneCluster cluster_;
  std::optional<SacctVocabulary> known_;

  std::deque<Line> ahead_;  // lines that were looked at and not taken
  std::string record_;
  std::vector<std::string> scratch_;
  std::int64_t mended_ = 0;
  std::int64_t joined_ = 0;
  std::int64_t headers_ = 0;
  std::int64_t unknown_ = 0;
  std::set<std::string> unknown_states_;
};

}  // namespace almanac::trace
