// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fills a table whose row sums, column sums and row means are known, and of which nothing else
/// is: the evenest such table.
///
/// With rows = virtual clusters and columns = job sizes it says which cluster runs what; with rows
/// = job sizes and columns = run times it says how long each size runs.
///
/// Source   Deming, Stephan, Annals of Mathematical Statistics 1940 (raking to margins); the row
///          means add an exponential tilt a row, as in maximum-entropy fitting.
#pragma once

#include <span>
#include <vector>

namespace almanac::stats {

struct TiltInput {
  std::span<const double> rows;       ///< Weight of each row, >= 0.
  std::span<const double> columns;    ///< Weight of each column, >= 0.
  std::span<const double> costs;      ///< Cost of each column, > 0.
  std::span<const double> row_means;  ///< Mean cost wanted in each row; only their ratios matter.
  std::span<const char> allowed{};    ///< rows x columns, 0 = must stay empty; empty = all allowed.
};

/// The shares, row by row, which sum to 1. A mean that no mix of columns gives is approached.
/// Requires: every row and every column that has weight has an allowed cell.
std::vector<double> tilt(const TiltInput& input);

}  // namespace almanac::stats
