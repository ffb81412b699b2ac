// SPDX-License-Identifier: Apache-2.0

/// \file
/// A linear program that can be changed and solved again from its last solution.
///
///   maximise  the sum of worth * column      so that   each row and column stays in its bounds
///
/// CLP solves it on one thread, and the answer is deterministic: no clock decides. The solver gives
/// up after 100 pivots for each row and column; two or three are usual.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace almanac::solver {

inline constexpr double kNoBound = std::numeric_limits<double>::max();

/// While an object lives, programs of this thread that are first solved give up after `pivots`
/// pivots for each row and column. Lets tests see what callers do without a solution.
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

  /// Numbers columns and rows from 0. Add all of them before changing or solving.
  int add_column(double worth, double least = 0, double most = kNoBound);
  int add_row(std::span<const Term> terms, double least, double most);

  void set_worth(int column, double worth);
  void set_row(int row, double least, double most);
  /// Changes a term that was in the row when it was added.
  void set_term(int row, int column, double value);

  /// Returns false if no columns satisfy all rows, the worth is unbounded, or the solver gave up.
  bool maximise();

  /// Values of the last solution.
  double worth() const;
  double value(int column) const;
  /// Returns how much the worth falls if the row's bound is tightened by one; 0 for a row that is
  /// not tight.
  double price(int row) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace almanac::solver
