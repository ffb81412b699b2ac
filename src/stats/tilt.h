// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fills a table from its row sums, its column sums and the mean cost of each row: the table of
/// maximum entropy.
///
/// With virtual clusters as rows and job sizes as columns, it says which cluster runs which sizes;
/// with job sizes as rows and run times as columns, it says how long jobs of each size run.
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
  std::span<const double> row_means;  ///< Mean cost of each row; only their ratios matter.
  std::span<const char> allowed{};    ///< rows x columns; 0 = must be empty; empty = all allowed.
};

/// Returns the fractions, row by row; their sum is 1. If no mix of columns has a row's mean, the
/// row comes as close as it can.
/// Requires: every row and every column that has weight has an allowed cell.
std::vector<double> tilt(const TiltInput& input);

}  // namespace almanac::stats
