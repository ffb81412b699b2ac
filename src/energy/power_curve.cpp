// SPDX-License-Identifier: Apache-2.0
#include "energy/power_curve.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace almanac::energy {
namespace {

/// The share of the headroom that is asked for, and what of it is left under the limit.
struct Headroom {
  double asked;
  double left;
};

Headroom headroom(const PowerCurve& curve, double use, double limit) {
  ALMANAC_CHECK(use >= 0 && use <= 1 && limit > curve.idle, "use {} limit {}", use, limit);
  const double asked = use * (curve.full - curve.idle) / (1 - curve.idle);
  if (limit >= 1 || asked == 0) return {asked, asked};
  const double allowed = (limit - curve.idle) / (1 - curve.idle);
  const double sum = std::pow(asked, -curve.bend) + std::pow(allowed, -curve.bend) - 1;
  return {asked, std::min(asked, std::pow(sum, -1 / curve.bend))};
}

}  // namespace

double PowerCurve::draw(double use, double limit) const {
  return idle + (1 - idle) * headroom(*this, use, limit).left;
}

double PowerCurve::speed(double use, double limit) const {
  const auto [asked, left] = headroom(*this, use, limit);
  return asked == 0 ? 1 : 1 - std::pow(1 - left / asked, strain);
}

double PowerCurve::use_of(double unlimited_draw) const {
  return std::clamp((unlimited_draw - idle) / (full - idle), 0.0, 1.0);
}

double mean_use(const std::vector<NetworkUse>& uses) {
  if (uses.empty()) return 1;
  double sum = 0;
  for (const NetworkUse& use : uses) sum += use.use;
  return sum / static_cast<double>(uses.size());
}

}  // namespace almanac::energy
