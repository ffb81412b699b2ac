// SPDX-License-Identifier: Apache-2.0

/// \file
/// A distribution of whole numbers >= 1 (seconds) that is known at the powers of two, as published
/// curves of run times are. Within an octave, the logarithm is uniform.
///
/// Source   Hu et al., SC'21, Figures 1(a) and 5 (the curves are evaluated at 2^i only).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace almanac::stats {

class Octaves {
 public:
  /// `weights[i]` is the weight of the values in (2^(i-1), 2^i]; the first is the weight of 1.
  /// Requires: weights >= 0, at least one > 0.
  explicit Octaves(std::span<const double> weights);

  /// Returns the value that a fraction `u` of all values does not exceed; u in [0, 1).
  std::int64_t quantile(double u) const;

  /// Returns the mean of the values between the quantiles `low` and `high`, rounded up; low < high.
  /// Unlike draws of quantile(), it gives small samples the mean of the whole distribution, but
  /// without its most extreme values.
  std::int64_t mean_between(double low, double high) const;

  /// Returns the mean of the values in octave `i`.
  static double mean_of(std::size_t i);

  /// Returns the number of `values` in each octave; values below 1 count as 1.
  static std::vector<double> count(std::span<const double> values);

 private:
  /// The octave of quantile `u`, and the position within it, in [0, 1].
  struct Place {
    std::size_t octave;
    double inside;
  };
  Place place(double u) const;
  double integral(double u) const;

  std::vector<double> cumulative_;  // fraction of the values in the octaves up to i
  std::vector<double> integral_;    // of the quantile function over the octaves up to i
};

}  // namespace almanac::stats
