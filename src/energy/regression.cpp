// SPDX-License-Identifier: Apache-2.0
#include "energy/regression.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace almanac::energy {
namespace {

constexpr int kRounds = 12;

/// Solves the symmetric positive definite `a` x = b in place (Cholesky); x ends up in `b`.
void solve(std::vector<double>& a, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t col = 0; col < n; ++col) {
    for (std::size_t k = 0; k < col; ++k) {
      const double factor = a[col * n + k];
      for (std::size_t row = col; row < n; ++row) a[row * n + col] -= a[row * n + k] * factor;
    }
    const double root = std::sqrt(std::max(a[col * n + col], 1e-12));
    for (std::size_t row = col; row < n; ++row) a[row * n + col] /= root;
  }
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t k = 0; k < row; ++k) b[row] -= a[row * n + k] * b[k];
    b[row] /= a[row * n + row];
  }
  for (std::size_t row = n; row-- > 0;) {
    for (std::size_t k = row + 1; k < n; ++k) b[row] -= a[k * n + row] * b[k];
    b[row] /= a[row * n + row];
  }
}

/// The size of each feature over `rows`.
Line scaled(const Table& table, std::span<const std::size_t> rows) {
  Line line{.scale = std::vector<double>(table.width), .weights = std::vector<double>(table.width)};
  const auto count = static_cast<double>(rows.size());
  for (const std::size_t row : rows) {
    for (std::size_t f = 0; f < table.width; ++f) {
      line.scale[f] += table.row(row)[f] * table.row(row)[f] / count;
    }
  }
  for (double& scale : line.scale) scale = scale > 1e-12 ? std::sqrt(scale) : 0;
  return line;
}

}  // namespace

double Line::operator()(std::span<const double> x) const {
  double y = offset;
  for (std::size_t f = 0; f < weights.size(); ++f) {
    if (scale[f] > 0) y += weights[f] * x[f] / scale[f];
  }
  return y;
}

Line fit_median(const Table& table, std::span<const std::size_t> rows, std::span<const double> y,
                std::span<const double> weights, double ridge) {
  ALMANAC_CHECK(!rows.empty() && y.size() == rows.size() && weights.size() == rows.size(),
                "{} rows, {} values, {} weights", rows.size(), y.size(), weights.size());
  Line line = scaled(table, rows);
  const std::size_t n = table.width + 1;  // the features, and 1
  std::vector<double> x(rows.size() * n);
  double spread = 0;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const auto row = table.row(rows[at]);
    for (std::size_t f = 0; f < table.width; ++f) {
      x[at * n + f] = line.scale[f] > 0 ? row[f] / line.scale[f] : 0;
    }
    x[at * n + table.width] = 1;
    spread += std::abs(y[at]) / static_cast<double>(rows.size());
  }
  // Errors below this count as equal, or rows that are met exactly would decide everything.
  const double least_error = std::max(1e-3 * spread, 1e-9);
  std::vector<double> pull(weights.begin(), weights.end());
  std::vector<double> a;
  std::vector<double> b;
  for (int round = 0; round < kRounds; ++round) {
    a.assign(n * n, 0);
    b.assign(n, 0);
    double all = 0;
    for (std::size_t at = 0; at < rows.size(); ++at) {
      const double* const row = &x[at * n];
      all += pull[at];
      for (std::size_t i = 0; i < n; ++i) {
        const double part = pull[at] * row[i];
        b[i] += part * y[at];
        for (std::size_t j = 0; j <= i; ++j) a[i * n + j] += part * row[j];
      }
    }
    for (std::size_t i = 0; i < n; ++i) a[i * n + i] += (ridge + 1e-9) * all;
    solve(a, b);
    for (std::size_t at = 0; at < rows.size(); ++at) {
      double error = y[at];
      for (std::size_t i = 0; i < n; ++i) error -= b[i] * x[at * n + i];
      pull[at] = weights[at] / std::max(std::abs(error), least_error);
    }
  }
  line.offset = b.back();
  line.weights.assign(b.begin(), b.end() - 1);
  return line;
}

}  // namespace almanac::energy
