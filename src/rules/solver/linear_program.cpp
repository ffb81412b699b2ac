// SPDX-License-Identifier: Apache-2.0
#include "rules/solver/linear_program.h"

#include <cmath>
#include <utility>

#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>

namespace almanac::solver {

namespace {

// Limit of pivots for each row and column; each solution counts from zero.
thread_local int most_pivots = 100;

}  // namespace

Patience::Patience(int pivots) : before_(std::exchange(most_pivots, pivots)) {}
Patience::~Patience() { most_pivots = before_; }

struct LinearProgram::State {
  std::vector<double> worth;
  std::vector<double> column_least, column_most;
  std::vector<double> row_least, row_most;
  std::vector<int> rows, columns;
  std::vector<double> values;
  ClpSimplex solver;
  bool loaded = false;

  void load() {
    const CoinPackedMatrix matrix(true, rows.data(), columns.data(), values.data(),
                                  static_cast<CoinBigIndex>(values.size()));
    CoinPackedMatrix whole(matrix);
    whole.setDimensions(static_cast<int>(row_least.size()), static_cast<int>(worth.size()));
    solver.setLogLevel(0);
    solver.loadProblem(whole, column_least.data(), column_most.data(), worth.data(),
                       row_least.data(), row_most.data());
    solver.setOptimizationDirection(-1);
    solver.setMaximumIterations(most_pivots * static_cast<int>(row_least.size() + worth.size()));
    loaded = true;
  }
};

LinearProgram::LinearProgram() : state_(std::make_unique<State>()) {}
LinearProgram::~LinearProgram() = default;
LinearProgram::LinearProgram(LinearProgram&&) noexcept = default;
LinearProgram& LinearProgram::operator=(LinearProgram&&) noexcept = default;

int LinearProgram::add_column(double worth, double least, double most) {
  state_->worth.push_back(worth);
  state_->column_least.push_back(least);
  state_->column_most.push_back(most);
  return static_cast<int>(state_->worth.size()) - 1;
}

int LinearProgram::add_row(std::span<const Term> terms, double least, double most) {
  const int row = static_cast<int>(state_->row_least.size());
  for (const Term& term : terms) {
    state_->rows.push_back(row);
    state_->columns.push_back(term.column);
    state_->values.push_back(term.value);
  }
  state_->row_least.push_back(least);
  state_->row_most.push_back(most);
  return row;
}

void LinearProgram::set_worth(int column, double worth) {
  state_->worth[static_cast<std::size_t>(column)] = worth;
  if (state_->loaded) state_->solver.setObjectiveCoefficient(column, worth);
}

void LinearProgram::set_row(int row, double least, double most) {
  state_->row_least[static_cast<std::size_t>(row)] = least;
  state_->row_most[static_cast<std::size_t>(row)] = most;
  if (state_->loaded) state_->solver.setRowBounds(row, least, most);
}

void LinearProgram::set_term(int row, int column, double value) {
  if (!state_->loaded) state_->load();
  state_->solver.modifyCoefficient(row, column, value, true);
}

bool LinearProgram::maximise() {
  if (!state_->loaded) state_->load();
  state_->solver.primal();
  // What a warm start leaves undecided is decided from the beginning.
  if (!state_->solver.isProvenOptimal() && !state_->solver.isProvenPrimalInfeasible()) {
    state_->solver.allSlackBasis(true);
    state_->solver.primal();
  }
  return state_->solver.isProvenOptimal();
}

double LinearProgram::worth() const { return state_->solver.objectiveValue(); }

double LinearProgram::value(int column) const {
  return state_->solver.primalColumnSolution()[column];
}

double LinearProgram::price(int row) const {
  return std::fabs(state_->solver.dualRowSolution()[row]);
}

}  // namespace almanac::solver
