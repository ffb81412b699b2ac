// SPDX-License-Identifier: Apache-2.0

/// \file
/// The predicted distribution of a run time.
///
/// Run times of GPU jobs have several modes: a crash at once, a test, a training run. No single
/// number suits every use. A reservation of GPUs needs a quantile, the order of a queue the mean or
/// a rank, and a user the most likely run time.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/time.h"

namespace almanac::predict {

class Distribution {
 public:
  /// Number of cells of log10 seconds, from 1 s to 4 months.
  static constexpr std::size_t kCells = 175;
  static constexpr double kStep = 0.04;

  static std::size_t cell_of(double log);
  /// Returns the middle of a cell, in log10 seconds.
  static double middle(std::size_t cell) { return (static_cast<double>(cell) + 0.5) * kStep; }
  /// Returns the middle of a cell, in seconds.
  static double middle_s(std::size_t cell);

  /// Adds weight at `log`, spread over neighboring cells within `width` as a triangle.
  void add(double log, float weight, int width);
  void add_cell(std::size_t cell, float weight) { mass_[cell] += weight; }
  void add(const Distribution& other, float weight);
  /// Scales the weights to a sum of one. Requires a positive sum.
  void normalize();
  float mass(std::size_t cell) const { return mass_[cell]; }
  double total() const;

  /// Returns the log10 seconds below which `share` of the mass lies, interpolated within a cell.
  double quantile(double share) const;
  /// Returns the central interval that holds `share` and leaves equal mass on both sides, in whole
  /// cells: a run time of one second is inside its cell, not outside of every interval.
  std::pair<double, double> central(double share) const;
  /// Returns the mass below the cell of `log`, plus half of the cell's own mass.
  double position(double log) const;
  /// Returns the mean of log10 seconds, for ordering run times of different magnitudes.
  double mean_log() const;
  /// Returns the middle of the interval of +- `half_width` (log10) with most mass: the prediction
  /// that is most often right within that factor.
  double densest(double half_width) const;
  /// Returns the same for several widths, for little more than the cost of one.
  template <std::size_t kWidths>
  std::array<double, kWidths> densest(const std::array<double, kWidths>& half_widths) const;

 private:
  std::array<float, kCells> mass_{};
};

}  // namespace almanac::predict
