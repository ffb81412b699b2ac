// SPDX-License-Identifier: Apache-2.0
#include "stats/tilt.h"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

const std::vector<double> kRows = {3, 1};
const std::vector<double> kColumns = {2, 1, 1};
const std::vector<double> kCosts = {1, 10, 100};

double column_sum(const std::vector<double>& table, std::size_t j) {
  return table[j] + table[3 + j];
}

double row_mean(const std::vector<double>& table, std::size_t i) {
  double weight = 0;
  double cost = 0;
  for (std::size_t j = 0; j < 3; ++j) {
    weight += table[3 * i + j];
    cost += table[3 * i + j] * kCosts[j];
  }
  return cost / weight;
}

TEST(Tilt, MeetsRowsColumnsAndMeansAtOnce) {
  // The columns fix the mean of all, 28: rows of mean 20 and 52 keep it.
  const std::vector<double> means = {20, 52};
  const auto table =
      tilt({.rows = kRows, .columns = kColumns, .costs = kCosts, .row_means = means});
  EXPECT_NEAR(table[0] + table[1] + table[2], 0.75, 1e-6);
  EXPECT_NEAR(column_sum(table, 0), 0.5, 1e-6);
  EXPECT_NEAR(column_sum(table, 1), 0.25, 1e-6);
  EXPECT_NEAR(row_mean(table, 0), 20, 1e-4);
  EXPECT_NEAR(row_mean(table, 1), 52, 1e-4);
}

TEST(Tilt, OfEqualMeansIsTheProductOfTheMargins) {
  const std::vector<double> means = {1, 1};
  const auto table =
      tilt({.rows = kRows, .columns = kColumns, .costs = kCosts, .row_means = means});
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(table[3 * i + j], kRows[i] / 4 * kColumns[j] / 4, 1e-9);
    }
  }
}

TEST(Tilt, LeavesForbiddenCellsEmpty) {
  const std::vector<double> means = {20, 52};
  const std::vector<char> allowed = {1, 1, 1, 1, 1, 0};
  const auto table = tilt({.rows = kRows,
                           .columns = kColumns,
                           .costs = kCosts,
                           .row_means = means,
                           .allowed = allowed});
  EXPECT_EQ(table[5], 0);
  EXPECT_NEAR(column_sum(table, 2), 0.25, 1e-6);  // the other row takes them all
  EXPECT_NEAR(table[3] + table[4], 0.25, 1e-6);
}

}  // namespace
}  // namespace almanac::stats
