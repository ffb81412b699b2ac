// SPDX-License-Identifier: Apache-2.0
#include "policy/division/pop/carry_over.h"

#include <utility>

namespace almanac::policy {

void carry_over(const Plan& made, const View& view, Plan& plan) {
  const auto give_back = [&](JobId job) {
    if (view.progress(job).phase != Phase::running) return;
    for (const cluster::Grant& grant : view.grants(job)) plan.ledger.give_back(grant);
  };
  const auto changes = made.changes();
  for (const Plan::Change& each : changes) {
    if (each.action != Plan::Action::none) give_back(each.job);
  }
  for (const JobId job : made.ended) give_back(job);
  Quotas* const quotas = std::exchange(plan.quotas, nullptr);
  for (const Plan::Change& each : changes) {
    if (each.action == Plan::Action::none) continue;
    const auto grants = made.grants(each);
    for (const cluster::Grant& grant : grants) {
      plan.ledger.ready(grant.node) ? plan.ledger.take(grant) : plan.ledger.take_ahead(grant);
    }
    plan.set(each.job, {.grants = grants, .config = each.config});
  }
  plan.quotas = quotas;
  for (const Plan::Hold& each : made.holds) plan.hold(each.job, each.until);
  for (const JobId job : made.declined) plan.decline(job);
  for (const JobId job : made.ended) plan.end(job);
  for (const JobId job : made.held_back) plan.hold_back(job);
  for (const Time wake : made.wakes) plan.wake(wake);
}

}  // namespace almanac::policy
