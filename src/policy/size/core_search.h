// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds how many cores per GPU a job can use, only from the utilization of its GPUs.
///
/// A trial is a number of cores per GPU, held for a while. It is harmless if utilization is at
/// least 0.98 of its highest value so far, and helps if that makes the number tried before harmful.
///
///   up      while GPUs wait and a trial may help: as many cores as would keep them busy if
///           utilization grew in proportion to cores, at least one more
///   down    half; once that was too few, as many as would keep them busy by the same rule; until
///           the fewest harmless cores are known
///
/// Source   CODA (Zhao et al., ICDCS'20): cores are moved by feedback. Its abstract says no more.
/// Differs  One core at a time would take 11 trials from 1 core to 12, and would stop where one
///          more core does not help (measured tables have such stretches). A proportional jump
///          takes two trials and passes over such a stretch. GPUs that are always busy never get
///          more cores.
#pragma once

#include <algorithm>
#include <cmath>

namespace almanac::policy::size {

class CoreSearch {
 public:
  /// `most` is the most cores per GPU. `informed` means the start is what similar jobs settled on.
  CoreSearch(int most, bool informed) : most_(most), informed_(informed) {}

  /// Records a utilization of `use`, 0 to 1, with `cores` per GPU.
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

  /// Returns the next number to try, at most `obtainable`; if done(), the number to settle on.
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

  /// Whether the last answer is final, as long as no more cores are obtainable.
  bool done() const { return done_; }
  /// Returns the fewest cores known to be harmless.
  int enough() const { return enough_; }
  /// Whether the GPUs wait and more cores have not been tried.
  bool wants_more() const { return !more_is_useless_ && enough_ < most_ && use_ < 1 - kTolerance; }

 private:
  static constexpr double kTolerance = 0.02;

  /// Returns how many cores would keep a GPU busy that has utilization `use` with `cores`. Ignores
  /// rounding errors when rounding up.
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
  double use_ = 0;          // the highest so far
  double too_few_use_ = 0;  // with too_few_
};

}  // namespace almanac::policy::size
