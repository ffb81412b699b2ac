// SPDX-License-Identifier: Apache-2.0

/// \file
/// A linear program that is solved, changed a little and solved again from where it stood.
///
///   maximise  the sum of worth * column      so that   each row and column lies in its bounds
///
/// Solved by CLP on one thread, always with the same answer: no clock decides. In place of one it
/// gives up after 100 pivots for each row and column, where some two or three are usual.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace almanac::solver {

inline constexpr double kNoBound = std::numeric_limits<double>::max();

/// While one lives, programs of its thread that are first solved then give up after so many pivots
/// for each row and column: shows what becomes of those that need the answer.
class Patience {
 public:
  explicit Patience(int pivots);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  int before_;
};

class LinearProgram {
 public:
  struct Term {
    int column;
    double value;
  };

  LinearProgram();
  ~LinearProgram();
  LinearProgram(LinearProgram&&) noexcept;
  LinearProgram& operator=(LinearProgram&&) noexcept;

  /// Columns and rows are numbered from 0, and all added before any is changed or solved.
  int add_column(double worth, double least = 0, double most = kNoBound);
  int add_row(std::span<const Term> terms, double least, double most);

  void set_worth(int column, double worth);
  void set_row(int row, double least, double most);
  /// Changes a term that the row had when it was added.
  void set_term(int row, int column, double value);

  /// False where no columns fulfil all rows, the worth has no bound, or it has given up.
  bool maximise();

  /// Of the last solution.
  double worth() const;
  double value(int column) const;
  /// By how much the worth falls where the row's bound is drawn in by one; 0 for a row that is not
  /// tight.
  double price(int row) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace almanac::solver
