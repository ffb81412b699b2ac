// SPDX-License-Identifier: Apache-2.0

/// \file
/// Every planner, dispatcher and chooser; each is one file in the folder of its slot.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "deployment/chooser.h"
#include "deployment/deployment.h"
#include "deployment/dispatch.h"
#include "deployment/forecast.h"
#include "deployment/tuner.h"
#include "inference/slot.h"

namespace almanac::deployment {

/// Decides which variants of networks are deployed where.
struct PlannerChoice {
  std::function<Result<Deployment>(const PlanningCase&)> plan;
  /// Plans GPUs with MIG instances; otherwise GPUs shared by MPS.
  bool mig = false;
  /// The rate for which it plans again as rates change.
  Forecast forecast = last_rate;
  /// Plans all stages of a pipeline together, by the objective of the pipeline.
  bool plans_pipelines = false;
  /// Makes what changes the copies of a plan until the next plan, from the case of the plan. Empty:
  /// nothing does.
  std::function<std::unique_ptr<Tuner>(const PlanningCase&, const Deployment&)> tuner{};
};

struct ChooserChoice {
  std::function<std::unique_ptr<Chooser>(const ChooserCase&)> make;
  bool needs_answers = false;     ///< ChooserCase::answers must be known,
  bool needs_confidence = false;  ///< and how confident they are.
};

struct Registry {
  inference::Slot<PlannerChoice> planners{};
  inference::Slot<std::function<std::unique_ptr<Dispatcher>()>> dispatchers{};
  inference::Slot<ChooserChoice> choosers{};
};

/// All of them, made at first use.
const Registry& registry();

// Generated: each calls every register_ function of its folder.
namespace planner {
void register_planner(Registry& registry);
}
namespace dispatcher {
void register_dispatcher(Registry& registry);
}
namespace chooser {
void register_chooser(Registry& registry);
}

}  // namespace almanac::deployment
