// SPDX-License-Identifier: Apache-2.0

/// \file
/// A program in whole numbers, solved once.
///
///   the most or the least of  the sum of worth * column     so that   each row lies in its bounds
///
/// Solved by CBC, by branch and bound of at most 100,000 nodes: then the best that was found by
/// then. No clock decides. Of several threads one solves at a time, all of the process together:
/// the solver's parameters are global.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace almanac::solver {

class WholeProgram {
 public:
  struct Term {
    int row = 0;
    double value = 0;
  };
  static constexpr double kNoLeast = -std::numeric_limits<double>::max();

  /// Rows and columns are numbered from 0. All rows are there before a column names them.
  int add_row(double least, double most);
  /// A whole number from 0 to `most`.
  int add_column(double worth, double most, std::span<const Term> terms);
  int num_columns() const { return static_cast<int>(worth_.size()); }

  /// By column; nothing = no whole numbers fulfil all rows, or none were found in time.
  std::optional<std::vector<int>> maximise() const { return solve(-1); }
  std::optional<std::vector<int>> minimise() const { return solve(1); }

 private:
  std::optional<std::vector<int>> solve(double sense) const;

  std::vector<double> row_least_, row_most_;
  // In the column form that CBC takes.
  std::vector<double> worth_, most_;
  std::vector<int> starts_{0}, rows_;
  std::vector<double> values_;
};

}  // namespace almanac::solver
