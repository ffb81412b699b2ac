// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is believed of each job, and what it is to have: what it asks, or what the shape and the
/// size of the composition choose when it joins the queue.
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
  /// `shape` null = every job gets the GPUs that it asks; `size` null = the cores and memory.
  JobDemands(std::unique_ptr<Shape> shape, std::unique_ptr<Size> size,
             std::unique_ptr<predict::Estimator> estimator)
      : shape_(std::move(shape)), size_(std::move(size)), beliefs_(std::move(estimator)) {}

  /// Null = every job gets what it asks.
  Size* size() const { return size_.get(); }
  /// Of how long jobs run; asked if the order, the shape or the pass does.
  Beliefs& beliefs() { return beliefs_; }

  /// What a job needs to start, and the number of that; as of when it joined the queue.
  const cluster::Demand& demand(JobId job) const {
    return chooses() ? demands_[choices_[index(job)].demand] : view_->demand(asked_id(job));
  }
  DemandId demand_id(JobId job) const {
    return chooses() ? choices_[index(job)].demand : asked_id(job);
  }
  /// What is enough for it to start.
  cluster::Demand least(JobId job) const { return least(demand(job)); }
  cluster::Demand least(const cluster::Demand& demand) const {
    return size_ ? size_->least(demand) : demand;
  }
  /// Whether any job waits that accepts several demands.
  bool has_undecided() const { return !asked_.undecided().empty(); }
  /// Whether the GPUs of a job are for the policy to choose.
  bool chooses_shape(JobId job) const {
    return shape_ && view_->request(job).max_gpus > 0 &&
           (view_->speeds != nullptr || !shape_->needs_speeds());
  }
  /// `demand` with so many GPUs, and the room for these in quotas, on so many nodes (Shaped).
  cluster::Demand shaped(cluster::Demand demand, int gpus, int nodes) const;

  /// Work that a job may still do by its bound (Beliefs): passes ask how long it holds its GPUs.
  Duration work_left(JobId job) const { return beliefs_.most_work_left(job, *view_); }
  /// The time that takes in the shape that the job is to have; never negative.
  Duration remaining(JobId job) const { return time_for(work_left(job), job); }
  /// The speed, beside that at which its run time is known, in the shape that it is to have.
  double rate(JobId job) const { return shape_ ? double{believed_rate(job)} : 1.0; }

 protected:
  /// What a job is to have where that may be something else than it asks.
  struct Choice {
    DemandId demand{};  // if there is a shape or a size
    float rate = 1;     // with that demand's shape, or with what the job accepts instead
  };

  /// Whether jobs may be given something else than they ask.
  bool chooses() const { return size_ != nullptr || shape_ != nullptr; }
  /// Of the demands that will do for a job the one that it asks for now.
  DemandId asked_id(JobId job) const { return asked_.asked(job, *view_); }
  /// Chooses what a job is to have; gives until when that stands.
  Time choose_demand(JobId job) {
    const Acceptable* const accepted = asked_.enter(job, *view_);
    if (accepted == nullptr && !chooses()) return Time::max();
    return choose_demand(job, accepted);
  }
  /// Sees to it that all jobs of the view have a choice, where choices are made.
  void make_room_for_choices();
  void choose(JobId job, const cluster::Demand& demand) {
    choices_[index(job)].demand = demands_.id_of(demand);
  }
  float believed_rate(JobId job) const {
    return index(job) < choices_.size() ? choices_[index(job)].rate : 1;
  }
  /// How long a job takes for `work` at its rate.
  Duration time_for(Duration work, JobId job) const {
    const float rate = believed_rate(job);
    if (rate == 1) return work;
    return Duration{std::llround(static_cast<double>(work.count()) / rate)};
  }

  std::unique_ptr<Shape> shape_;  // null = as asked
  std::unique_ptr<Size> size_;    // null = as asked
  Beliefs beliefs_;
  AskedDemands asked_;
  cluster::DemandTable demands_;  // that shape_ and size_ answered
  std::vector<Choice> choices_;   // by job; none = no job had a choice so far

 private:
  /// The same for a job that accepts several demands, or where a shape or a size chooses.
  Time choose_demand(JobId job, const Acceptable* accepted);
};

}  // namespace almanac::policy
