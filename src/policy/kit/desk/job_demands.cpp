// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/desk/job_demands.h"

namespace almanac::policy {

void JobDemands::make_room_for_choices() {
  if (choices_.size() < view_->num_jobs()) choices_.resize(view_->num_jobs());
}

Time JobDemands::choose_demand(JobId job, const Acceptable* accepted) {
  make_room_for_choices();
  Choice& choice = choices_[index(job)];
  choice.rate = accepted == nullptr ? 1 : accepted->rate;
  if (!chooses()) return Time::max();
  cluster::Demand demand = view_->demand(asked_id(job));
  Time until = Time::max();
  if (chooses_shape(job)) {
    const Shaped shaped =
        shape_->choose(job, beliefs_.work_left(job, *view_), *view_, plan_->ledger);
    demand = this->shaped(demand, shaped.gpus, shaped.nodes);
    choice.rate = static_cast<float>(shaped.rate);
    until = shaped.until;
  }
  if (size_) demand = size_->demand(job, demand, *view_);
  choice.demand = demands_.id_of(demand);
  return until;
}

cluster::Demand JobDemands::shaped(cluster::Demand demand, int gpus, int nodes) const {
  demand.gpus = gpus;
  demand.nodes = nodes;
  if (plan_->quotas != nullptr) demand.claim = plan_->quotas->sized(demand.claim, gpus);
  return demand;
}

}  // namespace almanac::policy
