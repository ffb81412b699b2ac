// SPDX-License-Identifier: Apache-2.0
#include "perf/batch_curve.h"

#include <algorithm>
#include <cmath>

namespace almanac::perf {
namespace {

/// Samples a second: less is no speed.
constexpr double kLeastRate = 1e-6;

double parabola(const std::array<double, 3>& k, double x) { return k[0] + x * (k[1] + x * k[2]); }

double at(const Saturating& curve, double batch) { return curve.a * batch / (batch + curve.c); }
double at(const Quadratic& curve, double batch) { return parabola(curve.k, batch); }
double at(const QuadraticLog& curve, double batch) { return parabola(curve.k, std::log2(batch)); }
double at(const RateTable& table, double batch) {
  const auto& batches = table.batches;
  const auto above = std::upper_bound(batches.begin(), batches.end(), batch);
  if (above == batches.end()) return table.rates.back();
  if (above == batches.begin()) return table.rates.front() * batch / batches.front();
  const auto next = static_cast<std::size_t>(above - batches.begin());
  const double part = std::log(batch / batches[next - 1]) / std::log(*above / batches[next - 1]);
  return table.rates[next - 1] + part * (table.rates[next] - table.rates[next - 1]);
}

}  // namespace

double BatchCurve::operator()(double batch) const {
  return std::max(kLeastRate, std::visit([&](const auto& form) { return at(form, batch); }, form_));
}

}  // namespace almanac::perf
