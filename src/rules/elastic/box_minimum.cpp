// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/box_minimum.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace almanac::elastic {
namespace {

constexpr std::size_t kSize = 7;
constexpr int kMostSteps = 300;
constexpr int kMostTrials = 40;  // of one line search
constexpr double kArmijo = 1e-4;
constexpr double kWolfe = 0.9;
constexpr double kLeastGain = 1e-10;  // of the value, in each of several steps
constexpr int kPatience = 4;          // such steps until it ends

using Vector = std::array<double, kSize>;
using SquareMatrix = std::array<Vector, kSize>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kSize; ++i) sum += a[i] * b[i];
  return sum;
}

/// The inverse of the Hessian as guessed so far, on the variables that are free.
class Curvature {
 public:
  void forget(double scale) {
    for (std::size_t i = 0; i < kSize; ++i) {
      inverse_[i].fill(0);
      inverse_[i][i] = scale;
    }
  }
  Vector direction(const Vector& gradient, const std::array<bool, kSize>& free) const {
    Vector made{};
    for (std::size_t i = 0; i < kSize; ++i) {
      if (!free[i]) continue;
      for (std::size_t j = 0; j < kSize; ++j) {
        if (free[j]) made[i] -= inverse_[i][j] * gradient[j];
      }
    }
    return made;
  }
  /// Learns from a step `s` that changed the gradient by `y`.
  void learn(const Vector& s, const Vector& y, bool first) {
    const double sy = dot(s, y);
    if (sy <= 1e-300) return;
    if (first) forget(sy / dot(y, y));
    Vector hy{};
    for (std::size_t i = 0; i < kSize; ++i) hy[i] = dot(inverse_[i], y);
    const double scale = (1 + dot(y, hy) / sy) / sy;
    for (std::size_t i = 0; i < kSize; ++i) {
      for (std::size_t j = 0; j < kSize; ++j) {
        inverse_[i][j] += scale * s[i] * s[j] - (hy[i] * s[j] + s[i] * hy[j]) / sy;
      }
    }
  }

 private:
  SquareMatrix inverse_{};
};

}  // namespace

Minimum<7> minimise(const Function7& function, const Box<7>& box, std::array<double, 7> start) {
  Vector x = start;
  Vector gradient{};
  double value = function(x, gradient);
  Curvature curvature;
  bool is_fresh = true;
  const auto restart = [&] {
    double size = 0;
    for (std::size_t i = 0; i < kSize; ++i) size = std::max(size, std::abs(gradient[i]));
    curvature.forget(size > 0 ? 0.01 / size : 1);
    is_fresh = true;
  };
  restart();
  std::array<bool, kSize> free{};
  int idle = 0;
  for (int step = 0; step < kMostSteps && idle < kPatience; ++step) {
    std::array<bool, kSize> now{};
    for (std::size_t i = 0; i < kSize; ++i) {
      now[i] = !(x[i] <= box.lower[i] && gradient[i] >= 0) &&
               !(x[i] >= box.upper[i] && gradient[i] <= 0) && box.lower[i] < box.upper[i];
    }
    if (step > 0 && now != free) restart();
    free = now;
    Vector direction = curvature.direction(gradient, free);
    if (dot(direction, gradient) >= 0) {
      if (is_fresh) break;
      restart();
      direction = curvature.direction(gradient, free);
    }
    const auto moved = [&](double t) {
      Vector to = x;
      for (std::size_t i = 0; i < kSize; ++i) {
        if (free[i]) to[i] = std::clamp(x[i] + t * direction[i], box.lower[i], box.upper[i]);
      }
      return to;
    };
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
    double t = 1;
    Vector best = x;
    Vector best_gradient = gradient;
    double best_value = value;
    for (int trial = 0; trial < kMostTrials; ++trial) {
      const Vector to = moved(t);
      Vector there{};
      const double reached = function(to, there);
      Vector s{};
      for (std::size_t i = 0; i < kSize; ++i) s[i] = to[i] - x[i];
      const double slope = dot(gradient, s);
      if (!(reached <= value + kArmijo * slope) || !(slope < 0)) {
        high = t;
      } else {
        best = to;
        best_gradient = there;
        best_value = reached;
        if (dot(there, s) >= kWolfe * slope) break;
        low = t;
        if (to == moved(2 * t)) break;  // the box ends here
      }
      t = std::isinf(high) ? 2 * low : (low + high) / 2;
    }
    if (best == x) {
      if (is_fresh) break;
      restart();
      continue;
    }
    Vector s{};
    Vector y{};
    for (std::size_t i = 0; i < kSize; ++i) {
      s[i] = best[i] - x[i];
      y[i] = best_gradient[i] - gradient[i];
    }
    idle = value - best_value <= kLeastGain * std::max(1.0, std::abs(value)) ? idle + 1 : 0;
    curvature.learn(s, y, is_fresh);
    is_fresh = false;
    x = best;
    gradient = best_gradient;
    value = best_value;
  }
  return {.at = x, .value = value};
}

}  // namespace almanac::elastic
