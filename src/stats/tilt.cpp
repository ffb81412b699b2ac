// SPDX-License-Identifier: Apache-2.0
#include "stats/tilt.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace almanac::stats {
namespace {

constexpr int kRounds = 500;
constexpr int kHalvings = 50;
constexpr double kSteepest = 20;  // powers of the cost, either way
constexpr double kExact = 1e-10;

class Table {
 public:
  explicit Table(const TiltInput& input)
      : in_(input),
        num_columns_(input.columns.size()),
        logs_(num_columns_),
        factors_(input.columns.begin(), input.columns.end()),
        cells_(input.rows.size() * num_columns_) {
    double middle = 0;
    for (std::size_t j = 0; j < num_columns_; ++j) middle += std::log(in_.costs[j]);
    middle /= static_cast<double>(num_columns_);
    for (std::size_t j = 0; j < num_columns_; ++j) logs_[j] = std::log(in_.costs[j]) - middle;
  }

  std::vector<double> fit() {
    for (int round = 0; round < kRounds; ++round) {
      // The wanted means are ratios: the columns alone fix the mean of the whole table.
      const double scale = grand_mean() / wanted_mean();
      for (std::size_t i = 0; i < in_.rows.size(); ++i) fit_row(i, scale * in_.row_means[i]);
      if (fit_columns() < kExact) break;
    }
    return std::move(cells_);
  }

 private:
  static double sum(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  }
  double grand_mean() const {
    return std::inner_product(in_.columns.begin(), in_.columns.end(), in_.costs.begin(), 0.0) /
           sum(in_.columns);
  }
  double wanted_mean() const {
    return std::inner_product(in_.rows.begin(), in_.rows.end(), in_.row_means.begin(), 0.0) /
           sum(in_.rows);
  }

  /// Writes row `i` with the given steepness; returns its mean cost.
  double write_row(std::size_t i, double steepness) {
    double weight = 0;
    double cost = 0;
    for (std::size_t j = 0; j < num_columns_; ++j) {
      double& cell = cells_[i * num_columns_ + j];
      const bool open = in_.allowed.empty() || in_.allowed[i * num_columns_ + j] != 0;
      cell = open ? factors_[j] * std::exp(steepness * logs_[j]) : 0;
      weight += cell;
      cost += cell * in_.costs[j];
    }
    const double share = in_.rows[i] / sum(in_.rows);
    for (std::size_t j = 0; j < num_columns_; ++j) {
      cells_[i * num_columns_ + j] *= weight > 0 ? share / weight : 0;
    }
    return weight > 0 ? cost / weight : 0;
  }

  void fit_row(std::size_t i, double wanted) {
    double low = -kSteepest;
    double high = kSteepest;
    for (int halving = 0; halving < kHalvings; ++halving) {
      const double middle = (low + high) / 2;
      (write_row(i, middle) < wanted ? low : high) = middle;
    }
    write_row(i, (low + high) / 2);
  }

  /// Turns each column's factor towards its sum; returns the largest error there was.
  double fit_columns() {
    double worst = 0;
    const double all = sum(in_.columns);
    for (std::size_t j = 0; j < num_columns_; ++j) {
      double found = 0;
      for (std::size_t i = 0; i < in_.rows.size(); ++i) found += cells_[i * num_columns_ + j];
      const double wanted = in_.columns[j] / all;
      worst = std::max(worst, std::abs(found - wanted));
      if (found > 0) factors_[j] *= wanted / found;
    }
    return worst;
  }

  const TiltInput& in_;
  std::size_t num_columns_;
  std::vector<double> logs_;     // of the costs, around 0
  std::vector<double> factors_;  // of the columns
  std::vector<double> cells_;
};

}  // namespace

std::vector<double> tilt(const TiltInput& input) { return Table(input).fit(); }

}  // namespace almanac::stats
