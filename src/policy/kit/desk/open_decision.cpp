// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/desk/open_decision.h"

namespace almanac::policy {

bool OpenDecision::starts(JobId job) const {
  const Plan::Change* const change = plan_->find(job);
  return change != nullptr &&
         (change->action == Plan::Action::start || change->action == Plan::Action::move);
}

bool OpenDecision::runs(JobId job) const {
  return view_->progress(job).phase == Phase::running && !starts(job);
}

std::span<const cluster::Grant> OpenDecision::grants(JobId job) const {
  const Plan::Change* const change = plan_->find(job);
  if (change != nullptr && change->num_grants > 0) return plan_->grants(*change);
  return view_->grants(job);
}

}  // namespace almanac::policy
