// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac sweep --pareto: the policies between several objectives.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "experiment/front.h"
#include "experiment/sweep.h"

namespace almanac::cli {

/// Makes the plan of a sweep with these policies. Fails if one of them cannot run.
using PlanOf = std::function<Result<experiment::SweepPlan>(std::vector<std::string> policies)>;

struct FoundFront {
  experiment::Front front{};
  std::vector<experiment::SweepPoint> points{};  ///< Of all policies tried.
};

/// Searches the front from `policies` on, with means over all loads and seeds. Leaves out policies
/// that know true run times, that cannot run here, or that leave more jobs without an end than
/// others. Fails with usage if no run has one of the objectives. What was found until then if
/// interrupted.
Result<FoundFront> find_front(const std::vector<std::string>& policies,
                              const std::vector<experiment::Objective>& objectives,
                              std::size_t budget, const PlanOf& plan_of);

}  // namespace almanac::cli
