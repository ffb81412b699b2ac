// SPDX-License-Identifier: Apache-2.0
#include "stats/least_squares.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

// Points 0, 1, 2 of 1, 3, 8: the line with least squares is 0.5 + 3.5 x, off by 0.5, -1, 0.5.
TEST(LeastSquares, LineByHand) {
  const std::array<double, 3> y{1, 3, 8};
  const std::array<Parameter, 2> line{Parameter{0, -100, 100}, Parameter{0, -100, 100}};
  const LeastSquares fit =
      least_squares(line, y.size(), [&](std::span<const double> p, std::span<double> errors) {
        for (std::size_t x = 0; x < y.size(); ++x) {
          errors[x] = p[0] + p[1] * static_cast<double>(x) - y[x];
        }
      });
  EXPECT_NEAR(fit.parameters[0], 0.5, 1e-6);
  EXPECT_NEAR(fit.parameters[1], 3.5, 1e-6);
  EXPECT_NEAR(fit.sum, 1.5, 1e-9);
}

TEST(LeastSquares, FindsTheEndOfAnExponential) {
  const std::array<Parameter, 3> curve{Parameter{1, 0, 10}, Parameter{1, 0, 10},
                                       Parameter{1, 0, 10}};
  const LeastSquares fit =
      least_squares(curve, 20, [](std::span<const double> p, std::span<double> errors) {
        for (std::size_t at = 0; at < 20; ++at) {
          const double x = 0.3 * static_cast<double>(at);
          errors[at] = p[0] + p[1] * std::exp(-p[2] * x) - (0.5 + 2 * std::exp(-0.7 * x));
        }
      });
  EXPECT_NEAR(fit.parameters[0], 0.5, 1e-5);
  EXPECT_NEAR(fit.parameters[1], 2, 1e-5);
  EXPECT_NEAR(fit.parameters[2], 0.7, 1e-5);
}

// The line by hand, its slope held to at most 2: the offset is then the mean of y - 2 x, 2.
TEST(LeastSquares, StaysWithinBounds) {
  const std::array<double, 3> y{1, 3, 8};
  const std::array<Parameter, 2> line{Parameter{0, -100, 100}, Parameter{0, 0, 2}};
  const LeastSquares fit =
      least_squares(line, y.size(), [&](std::span<const double> p, std::span<double> errors) {
        for (std::size_t x = 0; x < y.size(); ++x) {
          errors[x] = p[0] + p[1] * static_cast<double>(x) - y[x];
        }
      });
  EXPECT_NEAR(fit.parameters[0], 2, 1e-6);
  EXPECT_EQ(fit.parameters[1], 2);
}

TEST(LeastSquares, LeavesWhatNothingDependsOn) {
  const std::array<Parameter, 2> two{Parameter{3, 0, 10}, Parameter{7, 0, 10}};
  const LeastSquares fit = least_squares(
      two, 1, [](std::span<const double> p, std::span<double> errors) { errors[0] = p[0] - 4; });
  EXPECT_NEAR(fit.parameters[0], 4, 1e-6);
  EXPECT_EQ(fit.parameters[1], 7);
}

}  // namespace
}  // namespace almanac::stats
