// SPDX-License-Identifier: Apache-2.0
#include "rules/solver/whole_program.h"

#include <cmath>
#include <memory>
#include <mutex>

#include <Cbc_C_Interface.h>

namespace almanac::solver {

int WholeProgram::add_row(double least, double most) {
  row_least_.push_back(least);
  row_most_.push_back(most);
  return static_cast<int>(row_least_.size()) - 1;
}

int WholeProgram::add_column(double worth, double most, std::span<const Term> terms) {
  for (const Term& term : terms) {
    rows_.push_back(term.row);
    values_.push_back(term.value);
  }
  starts_.push_back(static_cast<int>(values_.size()));
  worth_.push_back(worth);
  most_.push_back(most);
  return num_columns() - 1;
}

std::optional<std::vector<int>> WholeProgram::solve(double sense) const {
  const std::vector<double> none(worth_.size(), 0.0);
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const std::unique_ptr<Cbc_Model, decltype(&Cbc_deleteModel)> solver(Cbc_newModel(),
                                                                      &Cbc_deleteModel);
  Cbc_setLogLevel(solver.get(), 0);
  Cbc_loadProblem(solver.get(), num_columns(), static_cast<int>(row_least_.size()), starts_.data(),
                  rows_.data(), values_.data(), none.data(), most_.data(), worth_.data(),
                  row_least_.data(), row_most_.data());
  for (int column = 0; column < num_columns(); ++column) Cbc_setInteger(solver.get(), column);
  Cbc_setObjSense(solver.get(), sense);
  Cbc_setAllowableGap(solver.get(), 1e-7);
  Cbc_setAllowableFractionGap(solver.get(), 0);
  Cbc_setMaximumNodes(solver.get(), 100'000);
  Cbc_solve(solver.get());
  const double* const solution = Cbc_bestSolution(solver.get());
  if (Cbc_isProvenInfeasible(solver.get()) != 0 || solution == nullptr) return std::nullopt;
  std::vector<int> made;
  for (int column = 0; column < num_columns(); ++column) {
    made.push_back(static_cast<int>(std::lround(solution[column])));
  }
  return made;
}

}  // namespace almanac::solver
