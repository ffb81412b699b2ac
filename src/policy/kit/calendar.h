// SPDX-License-Identifier: Apache-2.0

/// \file
/// Knows when GPUs of one virtual cluster are believed to come free and which jobs have reserved
/// them, and answers "when would it fit, and where?".
///
/// Free GPUs of a node change downwards only where a reservation (Promise) begins, so a placement
/// that holds now and at the beginning of every later reservation on its nodes holds throughout.
/// Each therefore keeps, for each of its nodes, the slack: GPUs still free there when it begins.
///
/// A job that holds a part of a GPU, or has reserved one, counts with all of it: others may
/// wait longer than they must, but none is delayed by sharing. Where parts are packed otherwise
/// than foreseen, a reserved part may find no place on its node when its time comes; it is then
/// reserved again, like that of a job whose predecessor runs longer than predicted.
///
/// Source   Lifka, JSSPP'95 (EASY); Mu'alem & Feitelson, TPDS 2001, section 2 (conservative).
/// Differs  Those count processors; here a reservation names nodes, so it cannot break by
/// fragmentation.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "policy/kit/desk.h"

namespace almanac::policy {

/// Cost: flat arrays that are reused, so that a promise allocates nothing once they have grown. All
/// but promise() cost one step for each promise on the nodes that they are asked about; making or
/// forgetting one moves a few bytes of every other.
class Calendar {
 public:
  struct Piece {
    NodeId node{};
    cluster::Amount amount{};
    cluster::Amount slack{};  ///< Free on the node when the promise begins, itself included. In a
                              ///< promise that is held, as of when it was made.
    std::int32_t gpu_milli = cluster::kWholeGpu;  ///< Of the GPU, where a part is promised.
    std::int32_t gpu_memory_mb = 0;               ///< The same.
    slices::ProfileId profile = slices::kNoProfile;
  };
  struct Promise {
    Time start{};
    Time end{};
    std::vector<Piece> pieces;
  };

  /// Of the virtual cluster `vc`, which owns its nodes alone.
  Calendar(Desk& desk, const cluster::VirtualCluster& vc)
      : desk_(desk), first_node_(vc.first), on_node_(vc.num_nodes) {}

  /// Finds the earliest start for `job`, which waits in `vc`, that delays no promise, and promises
  /// it. A start at `now` is only returned, not kept: start the job. Null = never fits as things
  /// are. The answer is valid until the next promise is made or taken back. Cost: one step for each
  /// believed end and each promise until then. Running jobs for which `gives_way` holds count as if
  /// they were stopped now, because `job` may stop them.
  const Promise* promise(const VcState& vc, JobId job,
                         const std::function<bool(JobId)>& gives_way = {});
  /// Takes GPUs for a job of `demand` that runs in [now, now + length) and delays no promise.
  /// Empty = changed nothing. The span is valid until the next place().
  std::span<const cluster::Grant> place_now(VcId vc, const cluster::Demand& demand,
                                            Duration length);
  /// The most GPUs that, taken now and held for good, would not delay the first promise, wherever
  /// they are; there must be one.
  int free_beside_first(VcId vc) const;
  /// The job promised the earliest start of those that `grants`, taken now and held until `until`,
  /// would delay; kNoJob = none. `own` takes them, and lets its own promise go.
  JobId first_delayed(std::span<const cluster::Grant> grants, Time until, JobId own = kNoJob) const;
  /// Returns why waiting `job` does not pass the first in line of `vc`: the promise that it would
  /// delay, or else that it is behind.
  Reason blocker(const VcState& vc, JobId job) const;
  /// Believes that jobs which run longer than believed run for as long again. Returns whether there
  /// was any.
  bool extend_overruns(VcState& vc);
  /// Takes note that `grants` are in use during [from, until), beyond what was believed so far;
  /// with sign -1, that they are not.
  void occupy(std::span<const cluster::Grant> grants, Time from, Time until, int sign);

  bool holds(JobId job) const;
  /// The promise of a job that holds one; valid until the next is made or taken back.
  const Promise& at(JobId job) const { return promises_[slot_of(job)]; }
  /// Takes the promised GPUs; empty = changed nothing, since they are not all free.
  std::span<const cluster::Grant> take(const Promise& promise);
  /// The job has started when and where it was promised.
  void fulfil(JobId job);
  /// Takes a promise back; gives it as it stands.
  Promise forget(JobId job);
  /// Makes a promise again that was taken back.
  void keep(JobId job, Promise promise);
  void clear();
  bool empty() const { return by_start_.empty(); }
  /// The jobs whose promise should have begun by `now`, in order of promised start.
  std::vector<JobId> due(Time now) const;
  /// The job whose promise begins first.
  JobId first() const { return by_start_.front().job; }
  /// The jobs whose promises no longer hold, since a job runs longer than believed.
  std::vector<JobId> broken() const;

 private:
  using Slot = std::uint32_t;  // position in promises_
  struct Begin {
    Time at{};
    JobId job{};
    Slot slot = 0;
  };
  /// What a promise means for one of its nodes.
  struct Claim {
    Time start{};
    JobId job{};
    cluster::Amount slack{};
  };

  std::vector<Claim>& claims(NodeId node) { return on_node_[index(node) - index(first_node_)]; }
  const std::vector<Claim>& claims(NodeId node) const {
    return on_node_[index(node) - index(first_node_)];
  }
  Slot slot_of(JobId job) const;
  /// A slot of promises_ whose pieces are empty.
  Slot fresh_slot();
  /// Files the promise of a fresh slot.
  void file(JobId job, Slot slot);
  /// Takes it out again and says where it still stands; its pieces then know their slack.
  Slot unfile(JobId job);

  /// Places in the ledger as it stands, delaying no promise that begins in (from, until).
  std::span<const cluster::Grant> place(VcId vc, const cluster::Demand& demand, Time from,
                                        Time until);
  /// Whether there may be nodes for `demand` on which it delays no such promise. Looks at each node
  /// with as many GPUs as it needs there, until there are enough.
  bool has_room_beside(VcId vc, const cluster::Demand& demand, Time from, Time until) const;
  /// What promises that begin in (from, until) leave of a node; more than it has if there are none.
  cluster::Amount slack(NodeId node, Time from, Time until) const;
  /// Puts the nodes where `grants` would delay a promise in conflicts_; false = there are none.
  bool find_conflicts(std::span<const cluster::Grant> grants, Time from, Time until);
  /// Lowers the slack on `node` of all promises that begin in [from, until).
  void lower_slack(NodeId node, const cluster::Amount& amount, Time from, Time until);

  Desk& desk_;
  NodeId first_node_;
  Promise at_once_;  // the answer that is not kept
  std::vector<Promise> promises_;
  std::vector<Slot> spare_;                     // positions in promises_ that none uses
  std::vector<std::pair<JobId, Slot>> by_job_;  // in order of job
  std::vector<Begin> by_start_;                 // in order of start, then of being made
  std::vector<std::vector<Claim>> on_node_;     // of each node, in order of being made
  std::vector<cluster::Grant> grants_;
  std::vector<Piece> conflicts_;  // nodes of which only the slack may be used
};

}  // namespace almanac::policy
