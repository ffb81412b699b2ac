// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a fill is like at each percent of demand that has arrived.
///
/// Source   the program that evaluates the runs of Weng et al., ATC'23 (FGD).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace almanac::fragment {

inline constexpr std::size_t kPoints = 131;  ///< 0 to 130 % of the capacity.

/// A number a point, all in percent; NaN = nothing arrived near that point.
struct Curve {
  std::array<double, kPoints> allocated{};    ///< Of the capacity.
  std::array<double, kPoints> fragments{};    ///< Expected to be of no use, of the capacity.
  std::array<double, kPoints> of_the_idle{};  ///< The same, of what is idle.
};

/// `value` as it is printed with so many decimals.
double printed(double value, int decimals);
/// `value` x 10^decimals rounded, halves to even, and divided again, as NumPy rounds.
double rounded(double value, int decimals);

/// Takes samples after each arrival and averages them by point, as the published program does: with
/// its order of sums and its roundings, and from the points beside where a point has no sample.
class CurveSampler {
 public:
  explicit CurveSampler(int gpus) : gpus_(gpus), samples_(kPoints) {}

  /// All in thousandths of GPUs: asked by all that have arrived, used, expected to be of no use.
  void sample(std::int64_t arrived, std::int64_t used, double unusable);
  Curve curve() const;

 private:
  struct Samples {
    std::vector<double> allocated{};    // %
    std::vector<double> unusable{};     // thousandths of GPUs
    std::vector<double> of_the_idle{};  // %
  };
  int gpus_;
  std::vector<Samples> samples_;
};

}  // namespace almanac::fragment
