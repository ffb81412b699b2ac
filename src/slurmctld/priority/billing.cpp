// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/billing.h"

#include <algorithm>

namespace almanac::slurmctld {
namespace {

std::int64_t count_of(const site::TresCounts& held, site::TresIndex tres) {
  const auto found =
      std::find_if(held.begin(), held.end(), [&](const auto& each) { return each.tres == tres; });
  return found == held.end() ? 0 : found->count;
}

bool competes(site::TresIndex tres, const site::PrioritySettings& settings,
              std::span<const site::Tres> names) {
  if (!settings.max_tres && !settings.max_tres_gres) return false;
  if (tres == site::kCpu || tres == site::kMemory || tres == site::kNode) return true;
  return !settings.max_tres_gres && names[tres].name.starts_with("gres/");
}

}  // namespace

double billable(const site::TresCounts& held, const site::TresWeights& weights,
                const site::PrioritySettings& settings, std::span<const site::Tres> tres) {
  if (weights.empty()) return static_cast<double>(count_of(held, site::kCpu));
  double largest = 0;
  double sum = 0;
  for (const site::TresWeight& each : weights) {
    if (each.tres == site::kBilling) continue;
    const double billed = static_cast<double>(count_of(held, each.tres)) * each.weight;
    if (competes(each.tres, settings, tres)) {
      largest = std::max(largest, billed);
    } else {
      sum += billed;
    }
  }
  return largest + sum;
}

}  // namespace almanac::slurmctld
