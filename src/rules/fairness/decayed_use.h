// SPDX-License-Identifier: Apache-2.0

/// \file
/// Use that counts half after each half-life.
#pragma once

namespace almanac::fairness {

/// The integral of rate x 2^(-age / half-life), in closed form: however often and when it is asked,
/// the answer is the same to rounding. Slurm's fair share takes the same in steps of
/// PriorityCalcPeriod, and tends to it as they become short.
class DecayedUse {
 public:
  /// Infinite = nothing is forgotten.
  explicit DecayedUse(double half_life_s);

  /// `rate` (GPUs, say) from one moment to another; in any order.
  void add(double rate, double from_s, double until_s);

  /// An amount that counts in full at a moment: use whose earlier part is forgotten already.
  void add_amount(double amount, double at_s);

  /// What counts at a moment that is not before the end of any use: in rate x seconds.
  double at(double now_s) const;

 private:
  double half_life_s_;
  double as_of_s_ = 0;
  double use_ = 0;  ///< At as_of_s_.
};

}  // namespace almanac::fairness
