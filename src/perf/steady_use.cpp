// SPDX-License-Identifier: Apache-2.0
#include "perf/steady_use.h"

namespace almanac::perf {

void SteadyUse::start(Time now) {
  computes_ = false;
  change(now);
}

void SteadyUse::change(Time now) {
  changed_ = now;
  counted_.clear();
}

void SteadyUse::add(const Stretch& use) {
  if (!computes_) {
    if (use.value <= 0) return;
    computes_ = true;
    changed_ = use.to;
    return;
  }
  if (use.from < changed_ + measuring_.settling || use.to <= use.from) return;
  counted_.push_back(use);
  std::erase_if(counted_,
                [&](const Stretch& each) { return each.to <= use.to - measuring_.window; });
}

std::optional<double> SteadyUse::mean() const {
  double seen_ms = 0;
  double busy_ms = 0;
  for (const Stretch& each : counted_) {
    const auto length_ms = static_cast<double>((each.to - each.from).count());
    seen_ms += length_ms;
    busy_ms += each.value * length_ms;
  }
  if (counted_.empty() || seen_ms < static_cast<double>(measuring_.least.count())) {
    return std::nullopt;
  }
  return busy_ms / seen_ms;
}

}  // namespace almanac::perf
