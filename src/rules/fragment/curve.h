// SPDX-License-Identifier: Apache-2.0

/// \file
/// The state of the cluster at each percent of arrived demand.
///
/// Source   The program that evaluates the runs of Weng et al., ATC'23 (FGD).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace almanac::fragment {

inline constexpr std::size_t kPoints = 131;  ///< 0 to 130 % of the capacity.

/// One value per point, all in percent; NaN if nothing arrived near that point.
struct Curve {
  std::array<double, kPoints> allocated{};    ///< Of the capacity.
  std::array<double, kPoints> fragments{};    ///< Expected to be unusable, of the capacity.
  std::array<double, kPoints> of_the_idle{};  ///< Expected to be unusable, of the idle GPUs.
};

/// Returns `value` after printing it with `decimals` decimals and reading it back.
double printed(double value, int decimals);
/// Returns `value` rounded to `decimals` decimals, halves to even, as NumPy does.
double rounded(double value, int decimals);

/// Takes samples after each arrival and averages them by point. Sums and rounds in the order of the
/// published program, and uses the two neighboring points for a point without samples.
class CurveSampler {
 public:
  explicit CurveSampler(int gpus) : gpus_(gpus), samples_(kPoints) {}

  /// All in thousandths of GPUs: requested by all arrivals, used, and expected to be unusable.
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
