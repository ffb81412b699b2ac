// SPDX-License-Identifier: Apache-2.0

/// \file
/// What an engine of rounds asks a policy: which part of the time which job is to have on which
/// type.
#pragma once

#include <cstddef>
#include <vector>

#include "rules/timeshare/problem.h"

namespace almanac::gavel {

/// The jobs there are, in order of submission.
struct State {
  double now_s = 0;
  std::vector<int> numbers{};        ///< Of the jobs.
  std::vector<std::size_t> kinds{};  ///< Model and number of GPUs, an index of the speeds.
  std::vector<double> steps_done{};
  std::vector<double> run_s{};       ///< How long they have run.
  std::vector<double> profiled_s{};  ///< Job::profiled_s.
  timeshare::Problem problem{};
};

/// Jobs by their place in the state.
struct Allocation {
  timeshare::Fractions alone{};
  struct Pair {
    std::size_t one = 0;
    std::size_t other = 0;
    std::vector<double> row{};
  };
  std::vector<Pair> pairs{};
};

class Rule {
 public:
  virtual ~Rule() = default;
  virtual Allocation allocate(const State& state) = 0;

  /// The engine goes through types in an order of its own in each round.
  virtual bool shuffles_types() const { return false; }
  /// A job without priority on a type does not fill it.
  virtual bool leaves_idle() const { return false; }
  /// It is asked before every round, and not where jobs have come or gone.
  virtual bool decides_rounds() const { return false; }
  /// Jobs may run in pairs.
  virtual bool pairs() const { return false; }
};

}  // namespace almanac::gavel
