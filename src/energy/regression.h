// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fits a straight line to many features so that the sum of absolute errors is least: the median,
/// which a few surprises do not move.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace almanac::energy {

/// Rows of features, one after another.
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
  std::vector<double> scale;  ///< root of its mean square; 0 = the feature was always 0 and is left
                              ///< out.
  std::vector<double> weights;
  double offset = 0;

  double operator()(std::span<const double> x) const;
};

/// The line through `rows` of `table` with the least sum of weight * |y - line|, after a ridge of
/// `ridge` times the sum of weights on the weights of the scaled features and on the offset:
/// without evidence the line is zero. `y` and `weights` belong to `rows`, of which there must be at
/// least one.
///
/// Source   iteratively reweighted least squares (Schlossmacher, JASA 68, 1973).
/// Cost     some 12 times rows * width^2.
Line fit_median(const Table& table, std::span<const std::size_t> rows, std::span<const double> y,
                std::span<const double> weights, double ridge);

}  // namespace almanac::energy
