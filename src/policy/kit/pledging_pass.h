// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of passes that accept deadlines in leases: keeps pledges, and starts jobs between leases on
/// free GPUs, in this order:
///
///   - jobs that need the current lease to meet an accepted deadline; if allowed, everything is
///     reallocated for them;
///   - jobs without an accepted deadline, in order of rank;
///   - jobs with an accepted deadline that do not need this lease, so that no GPU is idle, but only
///     if they gain more than being stopped at its end costs them.
///
/// Cost     O(waiting jobs) per event
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "policy/kit/leased_pass.h"
#include "policy/kit/order_around.h"
#include "policy/kit/pledging_pass/pledges.h"
#include "policy/kit/start_each.h"

namespace almanac::policy {

class PledgingPass : public LeasedPass {
 public:
  PledgingPass(Desk& desk, Duration lease, Duration phase, Pledges::Stops stops,
               Pledges::Whose whose = Pledges::Whose::first_to_come)
      : LeasedPass(desk, lease, phase),
        stops_(stops),
        pledges_(
            desk, lease, phase, whose, [this](JobId job) { return levels(job); },
            [this](JobId job) { return desk_.work_left(job); }) {
    desk_.rank_by([this](auto order) {
      return std::make_unique<PledgedStanding>(std::move(order), desk_, pledges_);
    });
  }

  PassNeeds needs() const final {
    PassNeeds made = LeasedPass::needs();
    made.run_times = true;
    return made;
  }

  void arrived(VcState& vc, JobId job) final { pledges_.came(vc, job); }
  void adopted(VcState& vc, JobId job) final { pledges_.came(vc, job); }
  void withdrawn(VcState& vc, JobId job) final { ended(vc, job); }
  void ended(VcState& vc, JobId job) override { pledges_.ended(vc, job); }

 protected:
  /// Returns what a job may get, fewest GPUs first; valid until the next call.
  virtual std::span<const Level> levels(JobId job) = 0;
  /// Decides which jobs run in the lease that begins, or in the rest of the current one.
  virtual void deal(VcState& vc) = 0;

  static constexpr Level kNothing{.gpus = 0, .nodes = 0, .rate = 0};

  void renew(VcState& vc) final {
    pledges_.look(vc, true, stops_);
    deal(vc);
    start_pledged(vc);
    start_others(vc);
  }

  void between(VcState& vc) final {
    const bool needs_room = pledges_.look(vc, false, stops_);
    if (!start_pledged(vc) && needs_room && stops_ == Pledges::Stops::at_once) deal(vc);
    start_others(vc);
  }

  bool waits_for_a_lease(const VcState& vc) const final { return !pledges_.jobs(vc.vc).empty(); }

  bool waits(JobId job) const {
    return desk_.view().progress(job).phase == Phase::waiting && !desk_.starts(job);
  }

  const Pledges::Stops stops_;
  Pledges pledges_;

 private:
  /// Says of a job that needs the current lease that it is due.
  class PledgedStanding final : public OrderAround {
   public:
    PledgedStanding(std::unique_ptr<Order> order, const Desk& desk, const Pledges& pledges)
        : OrderAround(std::move(order)), desk_(desk), pledges_(pledges) {}

    Standing standing(const Candidate& job) const override {
      const VcId vc = desk_.view().progress(job.job).vc;
      const bool is_due = pledges_.now(vc, job.job) > 0 && job.request.deadline > job.now;
      return is_due ? Standing{Term::due, seconds(job.request.deadline - job.now)}
                    : OrderAround::standing(job);
    }

   private:
    const Desk& desk_;
    const Pledges& pledges_;
  };

  /// Starts the jobs that need the current lease. Returns whether all run.
  bool start_pledged(VcState& vc) {
    bool all = true;
    for (const JobId job : pledges_.jobs(vc.vc)) {
      const int pledged = pledges_.now(vc.vc, job);
      if (pledged == 0 || !waits(job)) continue;
      for (const Level& level : levels(job)) {
        if (level.gpus == pledged) all = start_at(vc, job, Level(level)) && all;
      }
    }
    return all;
  }

  void start_others(VcState& vc) {
    start_each(desk_, vc, [&](const RankedQueue& jobs) -> const QueueEntry* {
      for (RankedQueue::Cursor at(jobs); at.get() != nullptr; at.advance()) {
        if (!pledges_.has(vc.vc, at.get()->job)) return at.get();
      }
      return nullptr;
    });
    for (const JobId job : pledges_.jobs(vc.vc)) {
      if (!waits(job) || pledges_.now(vc.vc, job) > 0) continue;
      const Level least = levels(job).front();
      if (pledges_.gain(vc.vc, job, kNothing, least) > 0) start_at(vc, job, least);
    }
  }

  bool start_at(VcState& vc, JobId job, const Level& level) {
    const cluster::Demand demand = pledges_.demand(vc.vc, job);
    const auto grants = desk_.place(vc.vc, desk_.shaped(demand, level.gpus, level.nodes));
    if (grants.empty()) return false;
    if (desk_.demand(job).gpus != level.gpus) {
      desk_.reshape(vc, job, {.nodes = level.nodes, .gpus = level.gpus, .rate = level.rate});
    }
    desk_.start(vc, job, grants);
    return true;
  }
};

}  // namespace almanac::policy
