// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whole numbers >= 1 (seconds) whose logarithm is normal, cut at a greatest one: the shape that
/// models of run times are mostly given in.
#pragma once

#include <cstdint>
#include <limits>

namespace almanac::stats {

class LogNormal {
 public:
  /// `spread` is the standard deviation of the logarithm; what would be above `most` is `most`.
  /// Requires: 0 < median <= most, spread >= 0.
  LogNormal(double median, double spread, double most = std::numeric_limits<double>::infinity());

  /// The value that a share `u` of all values does not exceed; u in [0, 1).
  std::int64_t quantile(double u) const;

  /// The mean of the values whose rank shares lie in [low, high); low < high. What Octaves does.
  std::int64_t mean_between(double low, double high) const;

  /// The mean of all, before they become whole numbers.
  double mean() const { return integral(1); }

 private:
  double integral(double u) const;

  double median_;
  double spread_;
  double most_;
  double cut_;        // the rank share from which on all values are `most`
  double below_cut_;  // the integral of the quantile function up to there
};

}  // namespace almanac::stats
