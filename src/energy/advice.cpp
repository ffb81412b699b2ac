// SPDX-License-Identifier: Apache-2.0
#include "energy/advice.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace almanac::energy {
namespace {

constexpr std::array<Duration, 5> kAhead = {1h, 2h, 3h, 6h, 12h};

/// The median and the `level` quantile of the greatest demand until `length` from the end.
std::vector<double> peak_at_the_end(const Demand& demand, Duration length, double level) {
  Forecaster forecaster(
      {.start = demand.start,
       .step = demand.step,
       .horizon = std::max<std::size_t>(1, static_cast<std::size_t>(length / demand.step)),
       .target = Target::peak,
       .levels = {0.5, level}});
  for (const int used : demand.used) forecaster.observe(used);
  return {forecaster.forecast().median, forecaster.forecast().quantiles.back()};
}

}  // namespace

Advice advise(const Demand& demand, const AdviceOptions& options) {
  ALMANAC_CHECK(!demand.used.empty(), "no step to advise from");
  Advice advice;
  advice.now = demand.start + demand.step * static_cast<std::int64_t>(demand.used.size());
  advice.used = demand.used.back();
  advice.total = std::max(demand.used.back(), demand.total.back());
  StandbyRules rules(options.prices, demand.step);
  for (const Standby& known : forecast_standby(demand)) advice.on = rules.decide(known);
  int on = advice.on;
  Time begins = advice.now;
  double median = advice.used;
  for (const Duration length : kAhead) {
    const std::vector<double> peak = peak_at_the_end(demand, length, options.level);
    // The greatest demand until later is no less than until sooner.
    median = std::max(median, std::min(peak[0], static_cast<double>(advice.total)));
    Ahead ahead{.until = advice.now + length, .median = median};
    const int before = advice.ahead.empty() ? advice.used : advice.ahead.back().enough;
    ahead.enough = std::clamp(static_cast<int>(std::ceil(peak[1])), before, advice.total);
    ahead.wake = std::max(0, ahead.enough - on);
    const auto boot = Duration(std::llround(1000 * options.boot_s));
    ahead.wake_at = std::max(advice.now, begins - boot);
    on += ahead.wake;
    begins = ahead.until;
    advice.ahead.push_back(ahead);
  }
  return advice;
}

}  // namespace almanac::energy
