// SPDX-License-Identifier: Apache-2.0
#include "stats/least_squares.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace almanac::stats {
namespace {

constexpr int kRounds = 100;
/// A round that lessens the sum by less than this share is the last.
constexpr double kGain = 1e-12;
/// So damped a step goes nowhere.
constexpr double kMostDamping = 1e12;

double sum_of_squares(std::span<const double> errors) {
  double sum = 0;
  for (const double error : errors) sum += error * error;
  return sum;
}

/// Solves a x = b in place by Cholesky's decomposition; false if `a` is not positive definite.
bool solve(std::vector<double> a, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i == j && !(sum > 0)) return false;
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return true;
}

class Descent {
 public:
  Descent(std::span<const Parameter> bounds, std::size_t observations, const Errors& errors)
      : bounds_(bounds), errors_(errors), now_(observations), next_(observations) {
    for (const Parameter& bound : bounds) {
      ALMANAC_CHECK(bound.least <= bound.most, "{} to {}", bound.least, bound.most);
      place_.push_back(std::clamp(bound.start, bound.least, bound.most));
    }
    errors_(place_, now_);
    sum_ = sum_of_squares(now_);
  }

  LeastSquares run() {
    double damping = 1e-3;
    for (int round = 0; round < kRounds && sum_ > 0; ++round) {
      differentiate();
      const double before = sum_;
      while (damping < kMostDamping && !step(damping)) damping *= 8;
      if (before - sum_ <= kGain * before) break;
      damping = std::max(damping / 10, 1e-12);
    }
    return {place_, sum_};
  }

 private:
  void differentiate() {
    const std::size_t n = place_.size();
    const std::size_t rows = now_.size();
    slopes_.resize(n * rows);
    for (std::size_t p = 0; p < n; ++p) {
      const double kept = place_[p];
      double width = 1e-6 * std::max(std::abs(kept), 1e-3);
      if (kept + width > bounds_[p].most) width = -width;
      place_[p] = kept + width;
      errors_(place_, next_);
      for (std::size_t row = 0; row < rows; ++row) {
        slopes_[p * rows + row] = (next_[row] - now_[row]) / width;
      }
      place_[p] = kept;
    }
    normal_.assign(n * n, 0);
    pull_.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const double* const a = &slopes_[i * rows];
      for (std::size_t row = 0; row < rows; ++row) pull_[i] -= a[row] * now_[row];
      for (std::size_t j = 0; j <= i; ++j) {
        const double* const b = &slopes_[j * rows];
        double sum = 0;
        for (std::size_t row = 0; row < rows; ++row) sum += a[row] * b[row];
        normal_[i * n + j] = normal_[j * n + i] = sum;
      }
    }
    // A parameter on its bound that wants to leave it stays there, or it would bend the others.
    for (std::size_t p = 0; p < n; ++p) {
      const bool stuck = (place_[p] <= bounds_[p].least && pull_[p] < 0) ||
                         (place_[p] >= bounds_[p].most && pull_[p] > 0);
      if (!stuck && normal_[p * n + p] > 0) continue;
      for (std::size_t k = 0; k < n; ++k) normal_[p * n + k] = normal_[k * n + p] = 0;
      normal_[p * n + p] = 1;
      pull_[p] = 0;
    }
  }

  /// Goes there if that is lower.
  bool step(double damping) {
    const std::size_t n = place_.size();
    std::vector<double> damped = normal_;
    for (std::size_t p = 0; p < n; ++p) damped[p * n + p] *= 1 + damping;
    std::vector<double> move = pull_;
    if (!solve(std::move(damped), move)) return false;
    std::vector<double> there = place_;
    for (std::size_t p = 0; p < n; ++p) {
      there[p] = std::clamp(there[p] + move[p], bounds_[p].least, bounds_[p].most);
    }
    errors_(there, next_);
    const double sum = sum_of_squares(next_);
    if (!(sum < sum_)) return false;
    place_ = std::move(there);
    now_.swap(next_);
    sum_ = sum;
    return true;
  }

  std::span<const Parameter> bounds_;
  const Errors& errors_;
  std::vector<double> place_;
  std::vector<double> now_;
  std::vector<double> next_;
  double sum_ = 0;
  std::vector<double> slopes_;
  std::vector<double> normal_;
  std::vector<double> pull_;
};

}  // namespace

LeastSquares least_squares(std::span<const Parameter> parameters, std::size_t observations,
                           const Errors& errors) {
  return Descent(parameters, observations, errors).run();
}

}  // namespace almanac::stats
