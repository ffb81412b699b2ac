// SPDX-License-Identifier: Apache-2.0

/// \file
/// An integer program, solved once.
///
///   maximise or minimise  the sum of worth * column     so that   each row stays in its bounds
///
/// CBC solves it by branch and bound over at most 100,000 nodes, and then returns the best solution
/// so far. No clock decides. Only one thread of the process solves at a time, because the solver's
/// parameters are global.
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

  /// Numbers rows and columns from 0. Add a row before a column names it.
  int add_row(double least, double most);
  /// Adds an integer column from 0 to `most`.
  int add_column(double worth, double most, std::span<const Term> terms);
  int num_columns() const { return static_cast<int>(worth_.size()); }

  /// Return the value of each column, or nothing if no integers satisfy all rows or none were found
  /// in time.
  std::optional<std::vector<int>> maximise() const { return solve(-1); }
  std::optional<std::vector<int>> minimise() const { return solve(1); }

 private:
  std::optional<std::vector<int>> solve(double sense) const;

  std::vector<double> row_least_, row_most_;
  // In the column form that CBC expects.
  std::vector<double> worth_, most_;
  std::vector<int> starts_{0}, rows_;
  std::vector<double> values_;
};

}  // namespace almanac::solver
