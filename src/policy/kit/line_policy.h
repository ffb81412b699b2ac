// SPDX-License-Identifier: Apache-2.0

/// \file
/// The frame of a scheduler that says itself which GPUs each job gets, where the frame of
/// allocator.h would leave that to a placement: it is handed, of each virtual cluster, the line of
/// jobs that wait, and the rest follows.
///
/// What follows: jobs stand in a line by priority and then as they came, and those that were
/// stopped join it again with the next decision; jobs for which a quota has no room are passed by.
/// A virtual cluster is served when something happens in it and once more after it was served with
/// an effect; where virtual clusters depend on each other (serves_apart()), all are served at each
/// decision.
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
  /// Told before anything else, once.
  virtual void open(const View& view, const cluster::Ledger& ledger) = 0;
  /// Told once events are taken in, before any virtual cluster is served.
  virtual void begin(const View&) {}
  /// Whether serve() would change nothing again that it has just not changed, whatever happens in
  /// other virtual clusters and however late it is.
  virtual bool serves_apart(const View& view) const = 0;
  /// Grows when serve() changes something of `vc` that it looks at, beside the plan.
  virtual std::uint64_t changes(VcId) const { return 0; }
  /// Starts jobs of `waiting` in the plan, and takes these out of it.
  virtual void serve(VcId vc, std::vector<JobId>& waiting, const View& view, Plan& plan) = 0;
  /// Told of a job that comes to wait for the first time, of one that runs already, and of one that
  /// has ended or failed.
  virtual void came(JobId, const View&) {}
  virtual void adopted(JobId job, const View& view) = 0;
  virtual void left(JobId job, const View& view) = 0;
  /// Told when nodes have come or gone.
  virtual void nodes_changed(const cluster::Ledger&) {}
  /// The jobs of higher priority stand first.
  virtual int priority(JobId, const View&) const { return 0; }

  /// Nodes that jobs should not start on while others will do.
  const DoubtedNodes& doubted() const { return doubted_; }
  /// Stops a running job, whose GPUs are given back.
  void stop(JobId job, Plan& plan) {
    plan.set(job, {});
    stopped_.push_back(job);
  }
  /// Whether neither a quota nor a time until which it is held keeps a job from starting.
  static bool may_start(JobId job, const View& view, const Plan& plan) {
    return has_quota(job, view, plan) && view.held_until(job) <= view.now;
  }
  static const cluster::Demand& asked(JobId job, const View& view) {
    return view.demand(view.progress(job).demand);
  }

 private:
  struct Line {
    std::vector<JobId> jobs;  // that wait, the next one first
    bool touched = true;      // since it was served last
  };

  void take_in(const Event& event, const View& view, const cluster::Ledger& ledger);
  void queue(JobId job, const View& view);
  /// Notes those for which no quota has room, as the plan leaves it.
  void look_at_quotas(const View& view, const Plan& plan);
  static bool has_quota(JobId job, const View& view, const Plan& plan) {
    return plan.quotas == nullptr || plan.quotas->has_room(asked(job, view).claim);
  }
  bool is_aside(JobId job) const { return std::binary_search(aside_.begin(), aside_.end(), job); }
  Line& line_of(JobId job, const View& view) { return lines_[index(view.progress(job).vc)]; }

  DoubtedNodes doubted_;
  std::vector<Line> lines_;     // by VcId
  std::vector<JobId> stopped_;  // by the plan in the making
  std::vector<JobId> aside_;    // those for which no quota had room at last, in order of number
};

}  // namespace almanac::policy
