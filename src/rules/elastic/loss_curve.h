// SPDX-License-Identifier: Apache-2.0

/// \file
/// How the loss of a training will go on falling, from what it has reported, and how sure that is.
///
/// Two shapes are tried: 1 / (a k^2 + b k + c) + d, as methods of first order converge, and
/// A e^(-r k) + d. For a level d that the loss falls to, each is a line or a parabola of what was
/// reported; the level is searched. Late reports count more.
///
/// Source   Zhang et al., SoCC'17 (SLAQ), section 4, for the shapes and the weights.
/// Differs  How sure it is the paper does not ask; here it is the range over all levels that
/// explain
///          the reports nearly as well (a profile likelihood of two standard deviations). Of curves
///          with errors the truth was in that range in 69 cases of 100 (loss_curve_test.cpp).
#pragma once

#include <span>
#include <vector>

namespace almanac::elastic {

struct LossPoint {
  double step = 0;
  double loss = 0;
};

/// By how much a loss will fall.
struct LossDrop {
  double expected = 0;
  double least = 0;
  double most = 0;
};

class LossCurve {
 public:
  /// Fewer reports say nothing of a curve.
  static constexpr std::size_t kLeastPoints = 4;

  /// `points` in ascending order of steps, at least kLeastPoints. O(points x levels), some 0.1 ms
  /// for 100 points.
  explicit LossCurve(std::span<const LossPoint> points);

  /// The loss that is expected.
  double at(double step) const;
  /// By how much it falls from one step to another; never negative.
  LossDrop drop(double from, double to) const;

 private:
  /// One shape with one level. Steps are in units of `scale_`.
  struct Fit {
    bool is_exponential = false;
    double level = 0;
    double a = 0, b = 0, c = 0;  // of the exponential: ln of it is b x + c
    double error = 0;            // weighted squares

    double at(double x) const;
  };
  /// The best of one shape that falls to `level`; nothing where it cannot be.
  static bool fit(std::span<const LossPoint> points, double scale, bool is_exponential,
                  double level, Fit& made);

  double scale_ = 1;
  std::vector<Fit> likely_;  // the best first
};

}  // namespace almanac::elastic
