// SPDX-License-Identifier: Apache-2.0
#include "steer/placing.h"

#include <algorithm>
#include <span>

#include "steer/planned_round.h"

namespace almanac::steer {

using manager::JobNumber;

namespace {

cluster::Amount total_of(std::span<const cluster::Grant> held) {
  cluster::Amount made;
  for (const cluster::Grant& grant : held) made += grant.amount();
  return made;
}

}  // namespace

bool Placing::can_be_placed(const manager::Job& job, const cluster::Ledger& ledger) {
  if (elsewhere_.contains(job.number)) return false;
  if (!Suitable::is_choosy(job)) return true;
  const bool ever = !Suitable::names_nodes(job);
  return suitable_.has_room(job, {.gpus = job.gpus}, ledger, ever);
}

bool Placing::move_misplaced(PlannedRound& planned, bool is_last) {
  const schedule::Round& round = planned.round();
  const RoundJobs& jobs = planned.jobs();
  const std::vector<JobId> started = planned.started();
  const auto is_new = [&, first = jobs.num_running() + pinned_.size()](JobId id) {
    return index(id) >= first && mirror_.find(jobs.number(id)) != nullptr;
  };
  const auto is_misplaced = [&](JobId id) {
    return is_new(id) && !suitable_.suits(*mirror_.find(jobs.number(id)), round.grants(id));
  };
  if (std::none_of(started.begin(), started.end(), is_misplaced)) return false;
  if (is_last) {
    for (const JobId id : started) {
      if (!is_misplaced(id)) continue;
      elsewhere_.insert(jobs.number(id));
      planned.withdraw(id);
    }
    for (const JobNumber number : elsewhere_) planned.put_aside(number, Aside::elsewhere);
    return false;
  }
  // Jobs that start before it keep their places; the others are planned again.
  cluster::Ledger ledger = round.ledger();
  for (const JobId id : started) {
    if (!is_new(id)) continue;
    for (const cluster::Grant& grant : round.grants(id)) ledger.give_back(grant);
  }
  for (const JobId id : started) {
    if (!is_new(id)) continue;
    const auto grants = round.grants(id);
    if (!is_misplaced(id)) {
      for (const cluster::Grant& grant : grants) {
        if (ledger.can_take(grant)) ledger.take(grant);
      }
      continue;
    }
    const manager::Job& job = *mirror_.find(jobs.number(id));
    auto held = suitable_.take(job, total_of(grants), ledger);
    if (held.empty()) {
      elsewhere_.insert(job.number);
    } else {
      pinned_.emplace_back(job.number, std::move(held));
    }
  }
  return true;
}

}  // namespace almanac::steer
