// SPDX-License-Identifier: Apache-2.0

/// \file
/// Knows when GPUs of one virtual cluster are believed to come free and who has been promised them,
/// and answers "when would it fit, and where?".
///
/// Free GPUs of a node change downwards only where a promise begins, so a placement that holds now
/// and at the beginning of every later promise on its nodes holds throughout. Each promise
/// therefore keeps, for each of its nodes, the slack: GPUs still free there when it begins.
///
/// Source   Lifka, JSSPP'95 (EASY); Mu'alem & Feitelson, TPDS 2001, section 2 (conservative).
/// Differs  Those count processors; here a promise names nodes, so it cannot break by
/// fragmentation.
#pragma once

#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "policy/desk.h"

namespace almanac::policy {

class Calendar {
 public:
  struct Piece {
    NodeId node{};
    int gpus = 0;
    int slack = 0;  ///< GPUs free on the node when the promise begins, itself included.
  };
  struct Promise {
    Time start{};
    Time end{};
    std::vector<Piece> pieces;
  };

  explicit Calendar(Desk& desk) : desk_(desk) {}

  /// Finds the earliest start for `job`, which waits in `vc`, that delays no promise, and promises
  /// it. A start at `now` is only returned, not kept: start the job. Null = never fits as things
  /// are. Cost: one step for each believed end and each promise until then.
  const Promise* promise(const VcState& vc, JobId job);
  /// Takes GPUs for a job of `demand` that is to run [now, now + length) and delays no promise.
  /// Empty = changed nothing.
  std::span<const cluster::Grant> place_now(VcId vc, const cluster::Demand& demand,
                                            Duration length);
  /// The job promised the earliest start of those that `grants`, taken now and held until `until`,
  /// would delay; kNoJob = none.
  JobId first_delayed(std::span<const cluster::Grant> grants, Time until) const;
  /// Takes note that `grants` are in use during [from, until), beyond what was believed so far;
  /// with sign -1, that they are not.
  void occupy(std::span<const cluster::Grant> grants, Time from, Time until, int sign);

  bool holds(JobId job) const { return promises_.contains(job); }
  const Promise& at(JobId job) const { return promises_.at(job); }
  /// Takes the promised GPUs; empty = changed nothing, since they are not all free.
  std::span<const cluster::Grant> take(const Promise& promise);
  /// The job has started when and where it was promised.
  void fulfil(JobId job);
  /// Takes a promise back.
  void forget(JobId job);
  /// Makes a promise again that was taken back.
  void keep(JobId job, Promise promise);
  void clear();
  bool empty() const { return promises_.empty(); }
  /// The jobs whose promise should have begun by `now`, in order of promised start.
  std::vector<JobId> due(Time now) const;
  /// The job whose promise begins first.
  JobId first() const { return by_start_.begin()->second; }
  /// The jobs whose promises no longer hold, since a job runs longer than believed.
  std::vector<JobId> broken() const;

 private:
  /// Places in the ledger as it stands, delaying no promise that begins in (from, until).
  std::span<const cluster::Grant> place(VcId vc, const cluster::Demand& demand, Time from,
                                        Time until);
  /// Adds to hidden_ the nodes where `grants` would delay a promise; false = there are none.
  bool find_conflicts(std::span<const cluster::Grant> grants, Time from, Time until);
  /// Lowers the slack on `node` of all promises that begin in [from, until).
  void lower_slack(NodeId node, int gpus, Time from, Time until);
  void remove(JobId job);

  Desk& desk_;
  Promise at_once_;  // the answer that is not kept
  std::unordered_map<JobId, Promise> promises_;
  std::multimap<Time, JobId> by_start_;
  std::unordered_map<NodeId, std::vector<JobId>> on_node_;
  std::vector<cluster::Grant> grants_;
  std::vector<Piece> hidden_;  // nodes of which only the slack may be used
};

}  // namespace almanac::policy
