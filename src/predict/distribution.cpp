// SPDX-License-Identifier: Apache-2.0
#include "predict/distribution.h"

#include <algorithm>
#include <cmath>

namespace almanac::predict {

std::size_t Distribution::cell_of(double log) {
  return std::min(static_cast<std::size_t>(std::max(0.0, log) / kStep), kCells - 1);
}

void Distribution::add(double log, float weight, int width) {
  const auto center = static_cast<int>(cell_of(log));
  const auto all = static_cast<float>((width + 1) * (width + 1));
  for (int off = -width; off <= width; ++off) {
    const int cell = std::clamp(center + off, 0, static_cast<int>(kCells) - 1);
    const auto part = static_cast<float>(width + 1 - std::abs(off));
    mass_[static_cast<std::size_t>(cell)] += weight * part / all;
  }
}

void Distribution::add(const Distribution& other, float weight) {
  for (std::size_t cell = 0; cell < kCells; ++cell) mass_[cell] += weight * other.mass_[cell];
}

double Distribution::total() const {
  double sum = 0;
  for (const float each : mass_) sum += static_cast<double>(each);
  return sum;
}

void Distribution::normalize() {
  const auto scale = static_cast<float>(1 / total());
  for (float& each : mass_) each *= scale;
}

double Distribution::quantile(double share) const {
  double below = 0;
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    const auto here = static_cast<double>(mass_[cell]);
    if (here > 0 && below + here >= share) {
      return (static_cast<double>(cell) + std::max(0.0, share - below) / here) * kStep;
    }
    below += here;
  }
  return static_cast<double>(kCells) * kStep;
}

std::pair<double, double> Distribution::central(double share) const {
  return {std::floor(quantile((1 - share) / 2) / kStep) * kStep,
          std::ceil(quantile((1 + share) / 2) / kStep) * kStep};
}

double Distribution::position(double log) const {
  const std::size_t here = cell_of(log);
  double below = static_cast<double>(mass_[here]) / 2;
  for (std::size_t cell = 0; cell < here; ++cell) below += static_cast<double>(mass_[cell]);
  return below;
}

double Distribution::middle_s(std::size_t cell) {
  static const std::array<double, kCells> kSeconds = [] {
    std::array<double, kCells> made{};
    for (std::size_t at = 0; at < kCells; ++at) made[at] = std::pow(10.0, middle(at));
    return made;
  }();
  return kSeconds[cell];
}

double Distribution::mean_log() const {
  double sum = 0;
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    sum += static_cast<double>(mass_[cell]) * middle(cell);
  }
  return sum;
}

double Distribution::densest(double half_width) const {
  return densest(std::array{half_width}).front();
}

template <std::size_t kWidths>
std::array<double, kWidths> Distribution::densest(
    const std::array<double, kWidths>& half_widths) const {
  struct Stretch {
    std::size_t wide = 0;
    double inside = 0;
    double most = -1;
    std::size_t first = 0;
    std::size_t last = 0;
  };
  std::array<Stretch, kWidths> stretches{};
  for (std::size_t at = 0; at < kWidths; ++at) {
    const auto wide = std::lround(2 * half_widths[at] / kStep);
    stretches[at].wide = std::max<std::size_t>(1, static_cast<std::size_t>(wide));
  }
  for (std::size_t end = 0; end < kCells; ++end) {
    for (Stretch& each : stretches) {
      each.inside += static_cast<double>(mass_[end]);
      if (end >= each.wide) each.inside -= static_cast<double>(mass_[end - each.wide]);
      constexpr double kSame = 1e-9;
      if (each.inside > each.most + kSame) {
        each.most = each.inside;
        each.first = end;
      }
      // A plateau has no best point but its middle.
      if (end == each.first || (end == each.last + 1 && each.inside > each.most - kSame)) {
        each.last = end;
      }
    }
  }
  std::array<double, kWidths> middles{};
  for (std::size_t at = 0; at < kWidths; ++at) {
    const Stretch& each = stretches[at];
    const double end = (static_cast<double>(each.first + each.last) / 2 + 1) * kStep;
    middles[at] = std::max(0.0, end - half_widths[at]);
  }
  return middles;
}

template std::array<double, 4> Distribution::densest(const std::array<double, 4>&) const;

}  // namespace almanac::predict
