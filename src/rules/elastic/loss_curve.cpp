// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/loss_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace almanac::elastic {
namespace {

constexpr double kForgets = 0.95;  // weight of a report relative to the next one
constexpr int kLevels = 60;        // that are tried between the least loss and far below it
constexpr double kFarBelow = 20;   // times the range of what was reported
constexpr double kParameters = 4;
constexpr double kDeviations = 2;  // by which a level may explain the reports worse than the best

using Row = std::array<double, 3>;

/// Solves normal equations of the variables of `active`; others are 0. False = they are singular.
bool solve(std::array<Row, 3> matrix, Row right, const std::array<bool, 3>& active, Row& made) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (active[i]) continue;
    matrix[i] = {};
    for (Row& row : matrix) row[i] = 0;
    matrix[i][i] = 1;
    right[i] = 0;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    std::size_t pivot = i;
    for (std::size_t j = i + 1; j < 3; ++j) {
      if (std::abs(matrix[j][i]) > std::abs(matrix[pivot][i])) pivot = j;
    }
    std::swap(matrix[i], matrix[pivot]);
    std::swap(right[i], right[pivot]);
    if (std::abs(matrix[i][i]) < 1e-300) return false;
    for (std::size_t j = i + 1; j < 3; ++j) {
      const double factor = matrix[j][i] / matrix[i][i];
      for (std::size_t k = i; k < 3; ++k) matrix[j][k] -= factor * matrix[i][k];
      right[j] -= factor * right[i];
    }
  }
  for (std::size_t i = 3; i-- > 0;) {
    made[i] = right[i];
    for (std::size_t k = i + 1; k < 3; ++k) made[i] -= matrix[i][k] * made[k];
    made[i] /= matrix[i][i];
  }
  return true;
}

}  // namespace

double LossCurve::Fit::at(double x) const {
  if (is_exponential) return level + std::exp(b * x + c);
  return level + 1 / (a * x * x + b * x + c);
}

bool LossCurve::fit(std::span<const LossPoint> points, double scale, bool is_exponential,
                    double level, Fit& made) {
  std::array<Row, 3> matrix{};
  Row right{};
  double weight = 1;
  for (std::size_t at = points.size(); at-- > 0; weight *= kForgets) {
    const double x = points[at].step / scale;
    const double above = points[at].loss - level;
    const double target = is_exponential ? std::log(above) : 1 / above;
    // An error of the target is one of the loss, times the slope between the two.
    const double slope = is_exponential ? above : above * above;
    const Row terms{is_exponential ? 0 : x * x, x, 1};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        matrix[i][j] += weight * slope * slope * terms[i] * terms[j];
      }
      right[i] += weight * slope * slope * terms[i] * target;
    }
  }
  // A loss that falls and comes to rest has no negative terms: those are left out in turn.
  constexpr std::array<std::array<bool, 3>, 4> kActive{
      {{true, true, true}, {false, true, true}, {true, false, true}, {false, false, true}}};
  bool any = false;
  for (const std::array<bool, 3>& active : kActive) {
    if (is_exponential && active[0]) continue;
    Row v{};
    if (!solve(matrix, right, active, v)) continue;
    Fit each{.is_exponential = is_exponential, .level = level, .a = v[0], .b = v[1], .c = v[2]};
    const bool falls = is_exponential ? each.b <= 0 : each.a >= 0 && each.b >= 0 && each.c > 0;
    if (!falls) continue;
    weight = 1;
    for (std::size_t at = points.size(); at-- > 0; weight *= kForgets) {
      const double off = each.at(points[at].step / scale) - points[at].loss;
      each.error += weight * off * off;
    }
    if (any && each.error >= made.error) continue;
    made = each;
    any = true;
  }
  return any;
}

LossCurve::LossCurve(std::span<const LossPoint> points) {
  ALMANAC_CHECK(points.size() >= kLeastPoints, "{} reports are too few for a curve", points.size());
  scale_ = std::max(points.back().step, 1e-12);
  const auto [least, most] =
      std::minmax_element(points.begin(), points.end(),
                          [](const LossPoint& a, const LossPoint& b) { return a.loss < b.loss; });
  const double lowest_seen = least->loss;
  const double range = std::max(most->loss - lowest_seen, 1e-12 * (1 + std::abs(lowest_seen)));
  std::vector<Fit> fits;
  const auto try_level = [&](bool is_exponential, double below) {
    Fit made;
    const bool can = fit(points, scale_, is_exponential, lowest_seen - below * range, made);
    if (can) fits.push_back(made);
    return can ? made.error : std::numeric_limits<double>::infinity();
  };
  for (const bool is_exponential : {false, true}) {
    // Levels below the least loss, in equal ratios; then the valley around the best by halves.
    const double ratio = std::pow(kFarBelow / 1e-4, 1.0 / kLevels);
    double best = 0;
    double lowest = std::numeric_limits<double>::infinity();
    for (int level = 0; level <= kLevels; ++level) {
      const double below = 1e-4 * std::pow(ratio, level);
      const double error = try_level(is_exponential, below);
      if (error >= lowest) continue;
      lowest = error;
      best = below;
    }
    for (double step = std::sqrt(ratio); step > 1 + 1e-9 && best > 0; step = std::sqrt(step)) {
      for (const double below : {best * step, best / step}) {
        const double error = try_level(is_exponential, below);
        if (error >= lowest) continue;
        lowest = error;
        best = below;
      }
    }
  }
  ALMANAC_CHECK(!fits.empty(), "no curve falls through {} reports", points.size());
  std::stable_sort(fits.begin(), fits.end(),
                   [](const Fit& a, const Fit& b) { return a.error < b.error; });
  const double free = std::max(1.0, static_cast<double>(points.size()) - kParameters);
  const double rounding = 1e-9 * range;
  const double nearly =
      fits.front().error * (1 + kDeviations * kDeviations / free) + rounding * rounding;
  std::erase_if(fits, [&](const Fit& each) { return each.error > nearly; });
  likely_ = std::move(fits);
}

double LossCurve::at(double step) const { return likely_.front().at(step / scale_); }

LossDrop LossCurve::drop(double from, double to) const {
  const auto of = [&](const Fit& fit) {
    return std::max(0.0, fit.at(from / scale_) - fit.at(to / scale_));
  };
  LossDrop made{
      .expected = of(likely_.front()), .least = of(likely_.front()), .most = of(likely_.front())};
  for (const Fit& each : likely_) {
    const double own = of(each);
    made.least = std::min(made.least, own);
    made.most = std::max(made.most, own);
  }
  return made;
}

}  // namespace almanac::elastic
