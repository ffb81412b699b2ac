// SPDX-License-Identifier: Apache-2.0

/// \file
/// A log-normal distribution of whole numbers >= 1 (seconds), cut at a maximum. Most models of run
/// times have this shape.
#pragma once

#include <cstdint>
#include <limits>

namespace almanac::stats {

class LogNormal {
 public:
  /// `spread` is the standard deviation of the logarithm. Values above `most` become `most`.
  /// Requires: 0 < median <= most, spread >= 0.
  LogNormal(double median, double spread, double most = std::numeric_limits<double>::infinity());

  /// Returns the value that a fraction `u` of all values does not exceed; u in [0, 1).
  std::int64_t quantile(double u) const;

  /// Returns the mean of the values between the quantiles `low` and `high`; low < high. Matches
  /// Octaves::mean_between().
  std::int64_t mean_between(double low, double high) const;

  /// Returns the mean before values are rounded to whole numbers.
  double mean() const { return integral(1); }

 private:
  double integral(double u) const;

  double median_;
  double spread_;
  double most_;
  double cut_;        // the quantile from which on all values are `most`
  double below_cut_;  // the integral of the quantile function up to cut_
};

}  // namespace almanac::stats
