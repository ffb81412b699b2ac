// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds how many cores a GPU of a job can use, from nothing but how busy its GPUs are.
///
/// A trial is a number of cores of each GPU, held for a while. It does no harm if the GPUs are at
/// least 0.98 times as busy as they ever were; it helps if what was tried before did harm, then.
///
///   up      while GPUs wait and a trial may help: as many more as would feed them if twice the
///           cores fed them twice as fast, at least one more
///   down    half; once that was too few, as many as would feed them by the same rule; until the
///           least that does no harm is known
///
/// Source   CODA (Zhao et al., ICDCS'20): cores are moved by feedback. Its abstract says no more.
/// Differs  one core at a time, as the reconstruction in the design texts has it, needs 11 trials
///          from 1 core to 12, and stops on the first stretch where one more does not help
///          (measured tables have them). A proportional jump needs two, and passes over such a
///          stretch. GPUs that are always busy are never given more.
#pragma once

#include <algorithm>
#include <cmath>

namespace almanac::policy::size {

class CoreSearch {
 public:
  /// At most `most` cores of a GPU. `informed`: the start is what jobs like this one settled on.
  CoreSearch(int most, bool informed) : most_(most), informed_(informed) {}

  /// The GPUs were `use` busy, 0 to 1, with `cores` of each.
  void observe(int cores, double use) {
    const bool helped = use_ < use * (1 - kTolerance);
    const bool harmless = use >= use_ * (1 - kTolerance);
    if (enough_ == 0 || helped) {
      if (cores > enough_) {
        too_few_ = enough_;
        too_few_use_ = use_;
      }
      enough_ = cores;
    } else if (cores > enough_) {
      more_is_useless_ = true;
    } else if (harmless) {
      enough_ = cores;
    } else if (cores < enough_ && cores > too_few_) {
      too_few_ = cores;
      too_few_use_ = use;
    }
    use_ = std::max(use_, use);
  }

  /// How many to try next, of at most `obtainable`; if done(), how many to settle on.
  int next(int obtainable) {
    done_ = false;
    if (wants_more()) {
      const int up = std::min({std::max(enough_ + 1, fed_by(enough_, use_)), most_, obtainable});
      if (up > enough_) return up;
    } else if (enough_ - too_few_ > 1) {
      int down = enough_ / 2;
      if (too_few_ > 0) {
        down = fed_by(too_few_, too_few_use_ / use_);
      } else if (informed_) {
        down = enough_ - 1;
      }
      informed_ = false;
      return std::clamp(down, too_few_ + 1, enough_ - 1);
    }
    done_ = true;
    return enough_;
  }

  /// The last answer is the one to stay with, as long as no more are obtainable.
  bool done() const { return done_; }
  /// The least that is known to do no harm.
  int enough() const { return enough_; }
  /// The GPUs wait, and more cores have not been tried.
  bool wants_more() const { return !more_is_useless_ && enough_ < most_ && use_ < 1 - kTolerance; }

 private:
  static constexpr double kTolerance = 0.02;

  /// How many cores would feed a GPU that `cores` keep `use` busy. No more than a whole number by
  /// rounding.
  static int fed_by(int cores, double use) {
    constexpr double kFarMore = 1e6;
    return static_cast<int>(std::ceil(std::min(kFarMore, cores / std::max(use, 1e-9)) - 1e-6));
  }

  int most_;
  bool informed_;
  bool more_is_useless_ = false;
  bool done_ = false;
  int enough_ = 0;
  int too_few_ = 0;
  double use_ = 0;          // the most seen
  double too_few_use_ = 0;  // with too_few_
};

}  // namespace almanac::policy::size
