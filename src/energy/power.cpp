// SPDX-License-Identifier: Apache-2.0
#include "energy/power.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::energy {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;

}  // namespace

double PowerModel::gpu_w(double use, double limit_w) const {
  ALMANAC_CHECK(limit_w >= gpu_least_limit_w, "limit {} W below {} W", limit_w, gpu_least_limit_w);
  const double above_idle = gpu_curve.draw(use, limit_w / gpu_limit_w) - gpu_curve.idle;
  return (full_w - idle_w) / gpus * above_idle / (gpu_curve.full - gpu_curve.idle);
}

double PowerModel::gpu_speed(double use, double limit_w) const {
  ALMANAC_CHECK(limit_w >= gpu_least_limit_w, "limit {} W below {} W", limit_w, gpu_least_limit_w);
  return gpu_curve.speed(use, limit_w / gpu_limit_w);
}

double PowerModel::least_sleep_s() const {
  // idle_w * gap = asleep_w * (gap - boot_s) + booting_w * boot_s
  return std::max(boot_s, boot_s * (booting_w - asleep_w) / (idle_w - asleep_w));
}

Energy& Energy::operator+=(const Energy& more) {
  on_j += more.on_j;
  gpu_j += more.gpu_j;
  booting_j += more.booting_j;
  asleep_j += more.asleep_j;
  return *this;
}

Energy energy_of(const NodeTime& time, const PowerModel& model) {
  return {.on_j = time.on_s * model.idle_w,
          .gpu_j = time.busy_gpu_s * model.gpu_w(),
          .booting_j = time.booting_s * model.booting_w,
          .asleep_j = time.asleep_s * model.asleep_w};
}

Bill bill_of(const Energy& energy, const Facility& facility) {
  const double nodes_kwh = energy.total_j() / kJoulesPerKwh;
  const double facility_kwh = nodes_kwh * facility.pue;
  return {.nodes_kwh = nodes_kwh,
          .facility_kwh = facility_kwh,
          .cost = facility_kwh * facility.price_per_kwh,
          .kg_co2 = facility_kwh * facility.kg_co2_per_kwh};
}

}  // namespace almanac::energy
