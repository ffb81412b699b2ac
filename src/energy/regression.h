// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fits a straight line to many features so that the sum of absolute errors is least: the median,
/// which a few surprises do not move.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace almanac::energy {

/// Rows of features, stored consecutively.
struct Table {
  std::size_t width = 0;
  std::vector<double> cells;

  std::size_t rows() const { return width == 0 ? 0 : cells.size() / width; }
  std::span<const double> row(std::size_t at) const {
    return std::span(cells).subspan(at * width, width);
  }
  void add(std::span<const double> row) { cells.insert(cells.end(), row.begin(), row.end()); }
};

/// y = weights . x / scale + offset.
struct Line {
  /// Root mean square; 0 if the feature was always 0, and is left out.
  std::vector<double> scale;
  std::vector<double> weights;
  double offset = 0;

  double operator()(std::span<const double> x) const;
};

/// Fits the line through `rows` of `table` with the least sum of weight * |y - line|. A ridge of
/// `ridge` times the sum of weights applies to the weights of the scaled features and to the
/// offset, so without evidence the line is zero. `y` and `weights` belong to `rows`, which must not
/// be empty.
///
/// Source   iteratively reweighted least squares (Schlossmacher, JASA 68, 1973).
/// Cost     about 12 times rows * width^2.
Line fit_median(const Table& table, std::span<const std::size_t> rows, std::span<const double> y,
                std::span<const double> weights, double ridge);

}  // namespace almanac::energy
