// SPDX-License-Identifier: Apache-2.0

/// \file
/// Ways of letting nodes sleep side by side: how much sleeps against how many requests are delayed.
#pragma once

#include <string>
#include <vector>

#include "energy/plan.h"
#include "energy/standby.h"

namespace almanac::energy {

/// A plan and what it costs. Plans of one family differ in one setting; families of one plan have
/// no setting.
struct JudgedPlan {
  std::string family{};   ///< "always on", "follow the load", "published loop", "standby",
                          ///< "optimum".
  std::string setting{};  ///< "buffer 5", "delay 64"; "" for none.
  Plan plan{};
  PlanFigures figures{};
};

struct FrontierOptions {
  CesSettings ces{};
  PowerModel power{};
  StandbyPrices prices{};  ///< The price of a delay is varied, and is one of those compared.
  std::size_t first = 0;   ///< The step from which costs count; what is before trains.
};

/// Always on, follow the load, the published loop with half to twice its buffer, ours with prices
/// of a delay from 1 node-hour on, and the bound.
std::vector<JudgedPlan> compare_plans(const Demand& demand, const FrontierOptions& options);

/// Returns our plan at the requested price.
const JudgedPlan& chosen_plan(const std::vector<JudgedPlan>& plans, const StandbyPrices& prices);

}  // namespace almanac::energy
