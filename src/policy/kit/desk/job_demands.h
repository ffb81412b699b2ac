// SPDX-License-Identifier: Apache-2.0

/// \file
/// The estimate and the demand of each job: what it requests, or what the shape and the size of the
/// composition choose when it joins the queue.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "cluster/demand_table.h"
#include "policy/kit/beliefs.h"
#include "policy/kit/desk/asked_demands.h"
#include "policy/kit/desk/open_decision.h"
#include "policy/slots.h"
#include "predict/estimator.h"

namespace almanac::policy {

class JobDemands : public OpenDecision {
 public:
  /// Without a `shape`, every job gets the GPUs it requests; without a `size`, its cores and
  /// memory.
  JobDemands(std::unique_ptr<Shape> shape, std::unique_ptr<Size> size,
             std::unique_ptr<predict::Estimator> estimator)
      : shape_(std::move(shape)), size_(std::move(size)), beliefs_(std::move(estimator)) {}

  /// Returns null if every job gets what it requests.
  Size* size() const { return size_.get(); }
  /// Returns the estimates of run times; used if the order, the shape or the pass reads them.
  Beliefs& beliefs() { return beliefs_; }

  /// Returns what a job needs to start, as of when it joined the queue, and its number.
  const cluster::Demand& demand(JobId job) const {
    return chooses() ? demands_[choices_[index(job)].demand] : view_->demand(asked_id(job));
  }
  DemandId demand_id(JobId job) const {
    return chooses() ? choices_[index(job)].demand : asked_id(job);
  }
  /// Returns what is enough for it to start.
  cluster::Demand least(JobId job) const { return least(demand(job)); }
  cluster::Demand least(const cluster::Demand& demand) const {
    return size_ ? size_->least(demand) : demand;
  }
  /// Whether any waiting job accepts several demands.
  bool has_undecided() const { return !asked_.undecided().empty(); }
  /// Whether the policy chooses the GPUs of a job.
  bool chooses_shape(JobId job) const {
    return shape_ && view_->request(job).max_gpus > 0 &&
           (view_->speeds != nullptr || !shape_->needs_speeds());
  }
  /// Returns `demand` with `gpus` GPUs, and their claim on quotas, on `nodes` nodes (Shaped).
  cluster::Demand shaped(cluster::Demand demand, int gpus, int nodes) const;

  /// Returns the work that a job may still do by its bound (Beliefs), for passes that need the time
  /// for which it holds its GPUs.
  Duration work_left(JobId job) const { return beliefs_.most_work_left(job, *view_); }
  /// Returns the time for that work in the job's chosen shape; never negative.
  Duration remaining(JobId job) const { return time_for(work_left(job), job); }
  /// Returns the speed in the job's chosen shape, relative to the speed of its known run time.
  double rate(JobId job) const { return shape_ ? double{believed_rate(job)} : 1.0; }

 protected:
  /// What a job gets if that may differ from its request.
  struct Choice {
    DemandId demand{};  // if there is a shape or a size
    float rate = 1;     // in that demand's shape, or with the accepted demand
  };

  /// Whether jobs may get something else than they request.
  bool chooses() const { return size_ != nullptr || shape_ != nullptr; }
  /// Returns the demand that a job requests now, of those that it accepts.
  DemandId asked_id(JobId job) const { return asked_.asked(job, *view_); }
  /// Chooses the demand of a job. Returns the time until which the choice holds.
  Time choose_demand(JobId job) {
    const Acceptable* const accepted = asked_.enter(job, *view_);
    if (accepted == nullptr && !chooses()) return Time::max();
    return choose_demand(job, accepted);
  }
  /// Makes sure that all jobs of the view have a choice if there are choices.
  void make_room_for_choices();
  void choose(JobId job, const cluster::Demand& demand) {
    choices_[index(job)].demand = demands_.id_of(demand);
  }
  float believed_rate(JobId job) const {
    return index(job) < choices_.size() ? choices_[index(job)].rate : 1;
  }
  /// Returns how long a job takes for `work` at its rate.
  Duration time_for(Duration work, JobId job) const {
    const float rate = believed_rate(job);
    if (rate == 1) return work;
    return Duration{std::llround(static_cast<double>(work.count()) / rate)};
  }

  std::unique_ptr<Shape> shape_;  // null for as requested
  std::unique_ptr<Size> size_;    // null for as requested
  Beliefs beliefs_;
  AskedDemands asked_;
  cluster::DemandTable demands_;  // results of shape_ and size_
  std::vector<Choice> choices_;   // by job; empty while no job had a choice

 private:
  /// The same for a job that accepts several demands, or if a shape or a size chooses.
  Time choose_demand(JobId job, const Acceptable* accepted);
};

}  // namespace almanac::policy
