// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many nodes to keep on, given prices for a delayed request, a wake-up and a node-hour on.
///
/// Two numbers decide. If fewer nodes are on than `need`, nodes wake; `need` is the number in use,
/// or the 95 % quantile of the next step. `keep` is the number to wake up to, and the number to let
/// the others sleep down to: a quantile of the forecast peak of the next hour or three, and never
/// less than the recent peak. A rule selects both; 161 rules are replayed over the past, and once a
/// day the cheapest one takes over. So the plan is not fitted to any cluster, and uses only what
/// was known.
///
/// Source   hysteresis between two levels is the (s, S) rule of inventories (Scarf, 1960); choosing
///          by past cost is follow-the-leader.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "energy/forecaster.h"
#include "energy/plan.h"

namespace almanac::energy {

/// In node-hours that a node is on.
struct StandbyPrices {
  double delayed = 64;     ///< Per request that waits for a boot.
  double wake_up = 4;      ///< Per step in which nodes are woken, however many.
  double boot = 1.0 / 12;  ///< Per node that is woken.
};

/// used <= need <= keep <= total.
struct Band {
  int need = 0;
  int keep = 0;
};

/// What was known at the end of a step, and the answer of each rule.
struct Standby {
  int used = 0;
  int total = 0;            ///< Not below `used`.
  std::vector<Band> rules;  ///< The last lets nothing sleep.
};

/// Forecasts what the rules need. Rules do not depend on prices: forecast once, decide often.
class StandbyForecaster {
 public:
  StandbyForecaster(Time start, Duration step);
  Standby observe(int used, int total);

 private:
  std::size_t day_;
  Forecaster next_;
  std::array<Forecaster, 2> ahead_;
  std::vector<int> used_;
};

/// Decides step after step.
class StandbyRules {
 public:
  StandbyRules(const StandbyPrices& prices, Duration step);

  /// Takes what is known at the end of a step; returns the nodes to have on in the next.
  int decide(const Standby& known);
  /// The active rule.
  std::size_t rule() const { return rule_; }

 private:
  StandbyPrices prices_;
  double step_h_;
  std::size_t day_;
  double fade_;
  std::size_t steps_ = 0;
  std::size_t rule_ = 0;
  int on_ = 0;
  std::vector<int> would_be_on_;  // by rule
  std::vector<double> costs_;     // by rule, older ones fading
};

/// Ours over a series.
Plan standby_plan(const std::vector<Standby>& known, Duration step, const StandbyPrices& prices);

std::vector<Standby> forecast_standby(const Demand& demand);

}  // namespace almanac::energy
