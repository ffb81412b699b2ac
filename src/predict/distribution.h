// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is believed of a run time: not one number but how likely each length is.
///
/// Run times of GPU jobs have several modes (it crashes at once, it is a test, it trains). No
/// single number serves every use: a reservation of GPUs needs a quantile, the order of a queue the
/// mean or a rank, the answer "about so long" to a user the likeliest length.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/time.h"

namespace almanac::predict {

class Distribution {
 public:
  /// Cells of log10 seconds: 1 s to 4 months.
  static constexpr std::size_t kCells = 175;
  static constexpr double kStep = 0.04;

  static std::size_t cell_of(double log);
  /// The middle of a cell, in log10 seconds.
  static double middle(std::size_t cell) { return (static_cast<double>(cell) + 0.5) * kStep; }
  /// The same in seconds.
  static double middle_s(std::size_t cell);

  /// Adds weight to where `log` is, spread over neighbours within `width` cells as a triangle.
  void add(double log, float weight, int width);
  void add_cell(std::size_t cell, float weight) { mass_[cell] += weight; }
  void add(const Distribution& other, float weight);
  /// Makes the weights sum to one; needs some weight.
  void normalize();
  float mass(std::size_t cell) const { return mass_[cell]; }
  double total() const;

  /// log10 seconds below which `share` of the mass lies, interpolated within a cell.
  double quantile(double share) const;
  /// The stretch that leaves as much mass below it as above it and holds `share`, in whole cells: a
  /// job of no length has a place in its cell, not outside of every stretch.
  std::pair<double, double> central(double share) const;
  /// The mass below the cell of `log`, and half of the cell's own.
  double position(double log) const;
  /// The mean of log10 seconds: of run times in different decades, whose order is asked for.
  double mean_log() const;
  /// The middle of the stretch of +- `half_width` (log10) that holds most mass: the number that is
  /// off by less than that factor most often.
  double densest(double half_width) const;
  /// The same of several widths, for little more than the cost of one.
  template <std::size_t kWidths>
  std::array<double, kWidths> densest(const std::array<double, kWidths>& half_widths) const;

 private:
  std::array<float, kCells> mass_{};
};

}  // namespace almanac::predict
