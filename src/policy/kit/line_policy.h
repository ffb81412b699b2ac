// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of schedulers that choose the GPUs of each job themselves, where allocator.h would leave
/// that to a placement. A subclass gets the line of waiting jobs of each virtual cluster; this
/// class does the rest.
///
/// Jobs are in a line by priority, then in order of arrival. Stopped jobs join it again in the next
/// decision. Jobs for which a quota has no room are skipped. A virtual cluster is served after an
/// event in it, and once more after it was served with an effect. If virtual clusters depend on
/// each other (serves_apart()), each decision serves all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "policy/contract/contract.h"
#include "policy/kit/doubted_nodes.h"

namespace almanac::policy {

class LinePolicy : public Policy {
 public:
  void decide(std::span<const Event> events, const View& view, Plan& plan) final;
  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const final;
  void line_up(std::vector<JobId>& line) const final;

 protected:
  /// Called once, before anything else.
  virtual void open(const View& view, const cluster::Ledger& ledger) = 0;
  /// Called after events are handled, before any virtual cluster is served.
  virtual void begin(const View&) {}
  /// Whether serve(), after a call without effect, has no effect again whatever happens in other
  /// virtual clusters and however late it is.
  virtual bool serves_apart(const View& view) const = 0;
  /// Grows when serve() changes state of `vc` that it reads, apart from the plan.
  virtual std::uint64_t changes(VcId) const { return 0; }
  /// Starts jobs of `waiting` in the plan, and removes these from `waiting`.
  virtual void serve(VcId vc, std::vector<JobId>& waiting, const View& view, Plan& plan) = 0;
  /// Called for a job that starts to wait for the first time, for one that already runs, and for
  /// one that has ended or failed.
  virtual void came(JobId, const View&) {}
  virtual void adopted(JobId job, const View& view) = 0;
  virtual void left(JobId job, const View& view) = 0;
  /// Called after nodes have come or gone.
  virtual void nodes_changed(const cluster::Ledger&) {}
  /// Jobs of higher priority come first.
  virtual int priority(JobId, const View&) const { return 0; }

  /// Returns the nodes that jobs should avoid if others are possible.
  const DoubtedNodes& doubted() const { return doubted_; }
  /// Stops a running job whose GPUs are already given back.
  void stop(JobId job, Plan& plan) {
    plan.set(job, {});
    stopped_.push_back(job);
  }
  /// Whether neither a quota nor a hold keeps a job from starting.
  static bool may_start(JobId job, const View& view, const Plan& plan) {
    return has_quota(job, view, plan) && view.held_until(job) <= view.now;
  }
  static const cluster::Demand& asked(JobId job, const View& view) {
    return view.demand(view.progress(job).demand);
  }

 private:
  struct Line {
    std::vector<JobId> jobs;  // waiting jobs in order
    bool touched = true;      // since it was last served
  };

  void take_in(const Event& event, const View& view, const cluster::Ledger& ledger);
  void queue(JobId job, const View& view);
  /// Records the jobs for which no quota has room after the plan.
  void look_at_quotas(const View& view, const Plan& plan);
  static bool has_quota(JobId job, const View& view, const Plan& plan) {
    return plan.quotas == nullptr || plan.quotas->has_room(asked(job, view).claim);
  }
  bool is_aside(JobId job) const { return std::binary_search(aside_.begin(), aside_.end(), job); }
  Line& line_of(JobId job, const View& view) { return lines_[index(view.progress(job).vc)]; }

  DoubtedNodes doubted_;
  std::vector<Line> lines_;     // by VcId
  std::vector<JobId> stopped_;  // by this plan
  std::vector<JobId> aside_;    // jobs for which no quota last had room, by number
};

}  // namespace almanac::policy
