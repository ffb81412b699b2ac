// SPDX-License-Identifier: Apache-2.0

/// \file
/// Predicts how the loss of a training job continues to fall, and how certain that is.
///
/// Fits two shapes: 1 / (a k^2 + b k + c) + d, as first-order methods converge, and A e^(-r k) + d.
/// For a given limit d, each becomes a linear fit to the reports; the limit is found by search.
/// Recent reports weigh more.
///
/// Source   Zhang et al., SoCC'17 (SLAQ), section 4, for the shapes and the weights.
/// Differs  The paper has no uncertainty. Here it is the range over all limits that explain the
///          reports nearly as well (a profile likelihood of two standard deviations). For curves
///          with noise the truth was in that range in 69 cases of 100 (loss_curve_test.cpp).
#pragma once

#include <span>
#include <vector>

namespace almanac::elastic {

struct LossPoint {
  double step = 0;
  double loss = 0;
};

/// Expected decrease of a loss, with its range.
struct LossDrop {
  double expected = 0;
  double least = 0;
  double most = 0;
};

class LossCurve {
 public:
  /// Fewest reports for a fit.
  static constexpr std::size_t kLeastPoints = 4;

  /// Fits `points`, in ascending order of steps, at least kLeastPoints. O(points x limits), about
  /// 0.1 ms for 100 points.
  explicit LossCurve(std::span<const LossPoint> points);

  /// Returns the expected loss.
  double at(double step) const;
  /// Returns the decrease from one step to another; never negative.
  LossDrop drop(double from, double to) const;

 private:
  /// One shape with one limit. Steps are in units of `scale_`.
  struct Fit {
    bool is_exponential = false;
    double level = 0;
    double a = 0, b = 0, c = 0;  // exponential: its logarithm is b x + c
    double error = 0;            // weighted sum of squares

    double at(double x) const;
  };
  /// Fits one shape that falls to `level`. Returns false if it cannot.
  static bool fit(std::span<const LossPoint> points, double scale, bool is_exponential,
                  double level, Fit& made);

  double scale_ = 1;
  std::vector<Fit> likely_;  // best first
};

}  // namespace almanac::elastic
