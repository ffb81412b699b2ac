// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs to stop so that a job fits that lies on one node.
///
/// A pass that stops running jobs one by one, worst rank first, until there is room stops one job
/// last, and of the others only those on its nodes were in the way. So it is enough to know of each
/// node at which of its jobs there would be room: the worst of these is that last job. What is
/// known of a node holds until something on it changes.
///
/// Demands that ask alike share what is known: it is kept of the least that they may ask, cores and
/// memory being powers of two, and says what is the best to hope for on a node. The nodes with the
/// best hope are then looked at for the very demand.
///
/// Cost     Of a demand, each node that changed since one alike was asked for last costs a sort of
///          the jobs there and the height of a tree over the nodes; and each node the same that
///          promises more than the answer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/demand_table.h"
#include "policy/kit/desk.h"

namespace almanac::policy {

class RoomByRank {
 public:
  /// `keys` has the key of each running job by JobId and outlives this; null = Desk::running_key().
  RoomByRank(Desk& desk, VcId vc, const std::vector<QueueKey>* keys = nullptr);

  /// A job runs with `grants`, or no more.
  void enter(JobId job, std::span<const cluster::Grant> grants);
  void leave(JobId job, std::span<const cluster::Grant> grants);
  /// More may be free on a node, or become free if a job there is stopped. What decreases need not
  /// be reported.
  void changed(NodeId node) {
    ++nodes_[member(node)].version;
    log_.push_back(member(node));
  }
  void all_changed();

  /// The running jobs behind `bar` that stand in the way of `demand`, which does not fit, where
  /// there is room first as jobs are stopped in order, worst first. Empty = there is none even
  /// without all of them.
  std::span<const JobId> in_the_way(DemandId id, const cluster::Demand& demand,
                                    const QueueKey& bar) {
    return in_the_way(boards_[board_of(id, demand)], demand, bar);
  }
  /// Whether there is any such job; for a demand that may have no number.
  bool is_in_the_way(const cluster::Demand& demand, const QueueKey& bar) {
    return !in_the_way(boards_[board_of(demand)], demand, bar).empty();
  }

 private:
  struct NodeState {
    std::vector<JobId> jobs;  // in no order
    std::uint32_t version = 0;
  };
  /// The running job that must go last for there to be room on a node.
  struct Last {
    QueueKey key{};
    JobId job = kNoJob;
  };
  /// What is known for demands that ask alike.
  struct Board {
    cluster::Demand demand{};          // that each of them covers
    std::vector<Last> last;            // of each node, and of a node that never has room
    std::vector<std::uint32_t> seen;   // the version that is of
    std::vector<std::uint32_t> worst;  // a tree over the nodes: which has the worst key
    std::size_t read = 0;              // so much of the log
    std::uint64_t log_number = 0;
  };

  std::uint32_t member(NodeId node) const {
    return static_cast<std::uint32_t>(index(node) - index(first_));
  }
  NodeId node_of(std::uint32_t member) const {
    return NodeId{static_cast<std::uint32_t>(index(first_)) + member};
  }
  void forget_log() {
    log_.clear();
    ++log_number_;
  }
  std::span<const JobId> in_the_way(Board& known, const cluster::Demand& demand,
                                    const QueueKey& bar);
  /// Positions in boards_.
  std::uint32_t board_of(DemandId id, const cluster::Demand& demand);
  std::uint32_t board_of(const cluster::Demand& demand);
  void catch_up(Board& board);
  void look_at(Board& board, std::uint32_t node);
  /// Puts the last to go for `demand` under `at` of the tree of a board in `best` if it is worse.
  void find_worst(Board& board, std::size_t at, const cluster::Demand& demand, Last& best);
  Last last_to_go(std::uint32_t node, const cluster::Demand& demand);
  /// The jobs of a node that can be stopped, worst first.
  void gather(std::uint32_t node);

  Desk& desk_;
  const std::vector<QueueKey>* keys_;
  VcId vc_;
  NodeId first_{};
  std::vector<std::size_t> pool_of_;  // each node; a position in Ledger::pools()
  std::vector<NodeState> nodes_;
  std::vector<Board> boards_;
  cluster::DemandTable alike_;            // the demands of the boards
  std::vector<std::uint32_t> known_for_;  // positions of each DemandId, kNone until it is asked for
  std::vector<std::uint32_t> log_;        // nodes that changed, some twice
  std::uint64_t log_number_ = 1;          // of the present log: it is begun anew when it is long
  std::vector<Last> gathered_;
  std::vector<JobId> answer_;
};

}  // namespace almanac::policy
