// SPDX-License-Identifier: Apache-2.0

/// \file
/// Usage of which half is forgotten after each half-life.
#pragma once

namespace almanac::fairness {

/// The integral of rate x 2^(-age / half-life) in closed form. The result does not depend on how
/// often it is read, except for rounding. Slurm's fair share computes the same in steps of
/// PriorityCalcPeriod and approaches this value as the steps get shorter.
class DecayedUse {
 public:
  /// An infinite half-life forgets nothing. Aborts unless `half_life_s` is above 0.
  explicit DecayedUse(double half_life_s);

  /// Adds usage at `rate` (for example, GPUs) between two moments. Calls may come in any order.
  void add(double rate, double from_s, double until_s);

  /// Adds an amount that is already decayed up to `at_s` and counts in full then.
  void add_amount(double amount, double at_s);

  /// Returns the decayed usage, in rate x seconds, at a moment that is not before the end of any
  /// use.
  double at(double now_s) const;

 private:
  double half_life_s_;
  double as_of_s_ = 0;
  double use_ = 0;  ///< At as_of_s_.
};

}  // namespace almanac::fairness
