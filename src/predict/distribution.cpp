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
  const auto wide =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(2 * half_width / kStep)));
  double inside = 0;
  double most = -1;
  std::size_t first = 0;
  std::size_t last = 0;
  for (std::size_t end = 0; end < kCells; ++end) {
    inside += static_cast<double>(mass_[end]);
    if (end >= wide) inside -= static_cast<double>(mass_[end - wide]);
    constexpr double kSame = 1e-9;
    if (inside > most + kSame) {
      most = inside;
      first = end;
    }
    // A plateau has no best point but its middle.
    if (end == first || (end == last + 1 && inside > most - kSame)) last = end;
  }
  const double end = (static_cast<double>(first + last) / 2 + 1) * kStep;
  return std::max(0.0, end - half_width);
}

}  // namespace almanac::predict
