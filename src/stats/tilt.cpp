// SPDX-License-Identifier: Apache-2.0
#include "stats/tilt.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace almanac::stats {
namespace {

constexpr int kMostRounds = 2000;
constexpr double kSteepest = 20;  // powers of the cost, either way
constexpr double kLongestStep = 0.5;
constexpr double kExact = 1e-9;

class Table {
 public:
  explicit Table(const TiltInput& input)
      : in_(input),
        num_columns_(input.columns.size()),
        logs_(num_columns_),
        factors_(input.columns.begin(), input.columns.end()),
        steepness_(input.rows.size()),
        cells_(input.rows.size() * num_columns_) {
    double middle = 0;
    for (std::size_t j = 0; j < num_columns_; ++j) middle += std::log(in_.costs[j]);
    middle /= static_cast<double>(num_columns_);
    for (std::size_t j = 0; j < num_columns_; ++j) logs_[j] = std::log(in_.costs[j]) - middle;
  }

  std::vector<double> fit() {
    for (int round = 0; round < kMostRounds; ++round) {
      // The wanted means are ratios: the columns alone fix the mean of the whole table.
      const double scale = grand_mean() / wanted_mean();
      double error = 0;
      for (std::size_t i = 0; i < in_.rows.size(); ++i) {
        error = std::max(error, fit_row(i, scale * in_.row_means[i]));
      }
      if (std::max(error, fit_columns()) < kExact) break;
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

  /// Writes row `i` and turns its steepness, by one step of Newton's, towards the wanted mean;
  /// returns the relative error of the mean there was.
  double fit_row(std::size_t i, double wanted) {
    double weight = 0;
    double cost = 0;
    double log = 0;
    double cost_log = 0;
    for (std::size_t j = 0; j < num_columns_; ++j) {
      const bool open = in_.allowed.empty() || in_.allowed[i * num_columns_ + j] != 0;
      const double cell = open ? factors_[j] * std::exp(steepness_[i] * logs_[j]) : 0;
      cells_[i * num_columns_ + j] = cell;
      weight += cell;
      cost += cell * in_.costs[j];
      log += cell * logs_[j];
      cost_log += cell * in_.costs[j] * logs_[j];
    }
    if (!(weight > 0) || in_.rows[i] <= 0) {
      std::fill_n(cells_.begin() + static_cast<std::ptrdiff_t>(i * num_columns_), num_columns_, 0);
      return 0;
    }
    const double share = in_.rows[i] / sum(in_.rows) / weight;
    for (std::size_t j = 0; j < num_columns_; ++j) cells_[i * num_columns_ + j] *= share;

    const double mean = cost / weight;
    const double slope = cost_log / weight - mean * log / weight;
    if (slope <= mean * kExact) return 0;  // one column only: nothing to tilt
    const double step = std::clamp((wanted - mean) / slope, -kLongestStep, kLongestStep);
    const double before = steepness_[i];
    steepness_[i] = std::clamp(before + step, -kSteepest, kSteepest);
    return steepness_[i] == before ? 0 : std::abs(wanted - mean) / wanted;
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
  std::vector<double> logs_;       // of the costs, around 0
  std::vector<double> factors_;    // of the columns
  std::vector<double> steepness_;  // of the rows, in powers of the cost
  std::vector<double> cells_;
};

}  // namespace

std::vector<double> tilt(const TiltInput& input) { return Table(input).fit(); }

}  // namespace almanac::stats
