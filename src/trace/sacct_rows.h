// SPDX-License-Identifier: Apache-2.0

/// \file
/// The rows that sacct prints, for everybody who reads them: `sacct -P` or `-p`, any columns, any
/// delimiter but the comma.
///
/// Cells are values (trace/sacct_columns.h): "" for every way of Slurm to say that there is none.
/// Delimiters and newlines inside texts are put back where they belong (trace/sacct_layout.h);
/// a newline in a text becomes a blank. States are the words that trace/sacct_states.h gives.
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

/// What a first line says of a file: whether sacct wrote it, and what is wrong with how.
struct SacctHeader {
  std::string delimiter{};
  std::vector<std::string> names{};  ///< As sacct spells them.
  std::string trouble{};             ///< Not empty = cannot be read; what is wrong, in a sentence.
};

/// Nothing if it is no header of sacct, and no row of sacct without a header.
std::optional<SacctHeader> sacct_header(std::string_view first_line);

class SacctRows final : public table::Rows {
 public:
  /// `used` names the columns that the caller reads; `steps` says whether it reads those of job
  /// steps too: otherwise a step has an id and no more. `command` is the hint where the file cannot
  /// be read. Fails as table::Lines does, and with invalid for a header that is not sacct's.
  static Result<std::unique_ptr<SacctRows>> open(const std::string& path,
                                                 const std::vector<std::string>& used, bool steps,
                                                 std::string command);

  /// Fails with invalid for a row that cannot be read, or in more than one way, or that is of
  /// another cluster than those before it.
  Result<bool> next() override;
  Where where() const override { return {path_, line_}; }
  /// What was mended or taken for unknown, one line each, with counts.
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
