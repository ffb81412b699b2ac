// SPDX-License-Identifier: Apache-2.0
#include "energy/standby.h"

#include <algorithm>
#include <cmath>

namespace almanac::energy {
namespace {

constexpr double kNeedLevel = 0.95;
const std::vector<double> kKeepLevels = {0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995};
constexpr std::array<Duration, 2> kHorizons = {1h, 3h};
constexpr std::array<Duration, 5> kWhiles = {0h, 1h, 6h, 24h, 72h};
// Fewer nodes than these are not sent to sleep.
constexpr int kLeastSleep = 2;
// Before that, nothing sleeps: no rule has a past.
constexpr std::size_t kFirstDays = 3;
// Days over which what rules have cost fades to 1/e.
constexpr double kStandbyFadeDays = 60;

std::size_t steps_of(Duration length, Duration step) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(length / step));
}

ForecastOptions peak_of(Time start, Duration step, Duration ahead, std::vector<double> levels) {
  return {.start = start,
          .step = step,
          .horizon = steps_of(ahead, step),
          .target = Target::peak,
          .levels = std::move(levels)};
}

int nodes(double quantile) { return static_cast<int>(std::ceil(quantile)); }

/// What is on in the next step where `on` were on in this one.
int next_on(int on, const Standby& known, const Band& rule) {
  on = std::max(on, known.used);
  if (rule.need > on || on - rule.keep >= kLeastSleep) on = rule.keep;
  return std::min(on, known.total);
}

}  // namespace

StandbyForecaster::StandbyForecaster(Time start, Duration step)
    : day_(steps_of(24h, step)),
      next_(peak_of(start, step, step, {kNeedLevel})),
      ahead_{Forecaster(peak_of(start, step, kHorizons[0], kKeepLevels)),
             Forecaster(peak_of(start, step, kHorizons[1], kKeepLevels))} {}

Standby StandbyForecaster::observe(int used, int total) {
  used_.push_back(used);
  next_.observe(used);
  for (Forecaster& ahead : ahead_) ahead.observe(used);
  Standby known{.used = used, .total = std::max(used, total), .rules = {}};
  const int likely = std::clamp(nodes(next_.forecast().quantiles.front()), used, known.total);
  // The most that was used at once, of ever longer whiles.
  std::array<int, kWhiles.size()> most{};
  int greatest = used;
  std::size_t back = 0;
  for (std::size_t at = 0; at < kWhiles.size(); ++at) {
    const auto steps = static_cast<std::size_t>(kWhiles[at] / 1h) * day_ / 24;
    for (; back <= steps && back < used_.size(); ++back) {
      greatest = std::max(greatest, used_[used_.size() - 1 - back]);
    }
    most[at] = greatest;
  }
  for (const Forecaster& peak : ahead_) {
    for (const double quantile : peak.forecast().quantiles) {
      for (const int least : most) {
        for (const int need : {used, likely}) {
          const int keep = std::max({nodes(quantile), need, least});
          known.rules.push_back({.need = need, .keep = std::min(keep, known.total)});
        }
      }
    }
  }
  known.rules.push_back({.need = known.total, .keep = known.total});
  return known;
}

StandbyRules::StandbyRules(const StandbyPrices& prices, Duration step)
    : prices_(prices),
      step_h_(seconds(step) / 3600),
      day_(steps_of(24h, step)),
      fade_(std::exp(-1 / (kStandbyFadeDays * static_cast<double>(day_)))) {}

int StandbyRules::decide(const Standby& known) {
  if (steps_ == 0) {
    on_ = known.total;
    rule_ = known.rules.size() - 1;
    would_be_on_.assign(known.rules.size(), known.total);
    costs_.assign(known.rules.size(), 0.0);
  }
  for (std::size_t rule = 0; rule < costs_.size(); ++rule) {
    int& on = would_be_on_[rule];
    const int delayed = std::max(0, known.used - on);
    const int had = std::max(on, known.used);
    on = next_on(on, known, known.rules[rule]);
    const int woken = delayed + std::max(0, on - had);
    costs_[rule] = costs_[rule] * fade_ + prices_.delayed * delayed + prices_.boot * woken +
                   (woken > 0 ? prices_.wake_up : 0) + step_h_ * had;
  }
  if (steps_ % day_ == 0 && steps_ >= kFirstDays * day_) {
    rule_ =
        static_cast<std::size_t>(std::min_element(costs_.begin(), costs_.end()) - costs_.begin());
  }
  ++steps_;
  on_ = next_on(on_, known, known.rules[rule_]);
  return on_;
}

std::vector<Standby> forecast_standby(const Demand& demand) {
  StandbyForecaster forecaster(demand.start, demand.step);
  std::vector<Standby> known;
  known.reserve(demand.used.size());
  for (std::size_t at = 0; at < demand.used.size(); ++at) {
    known.push_back(forecaster.observe(demand.used[at], demand.total[at]));
  }
  return known;
}

Plan standby_plan(const std::vector<Standby>& known, Duration step, const StandbyPrices& prices) {
  StandbyRules rules(prices, step);
  Plan plan;
  int on = known.empty() ? 0 : known.front().total;
  for (const Standby& now : known) {
    plan.late.push_back(std::max(0, now.used - on));
    plan.on.push_back(std::max(now.used, on));
    on = rules.decide(now);
  }
  return plan;
}

}  // namespace almanac::energy
