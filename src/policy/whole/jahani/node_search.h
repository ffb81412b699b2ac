// SPDX-License-Identifier: Apache-2.0

/// \file
/// Places jobs together, each on one node or left to wait, for the least additional cost of nodes
/// plus the cost of jobs, by branch and bound. A node costs its full price while any job runs
/// there.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/ledger.h"

namespace almanac::policy {

class NodeSearch {
 public:
  struct Offer {
    NodeId id{};
    double price = 0;   ///< Per second of the whole node.
    double paid_s = 0;  ///< Time from now until the last job there ends.
  };
  /// One way for a job to run.
  struct Way {
    int gpus = 0;
    std::uint64_t gpu_type = 0;  ///< One bit.
    double time_s = 0;
    double cost = 0;  ///< In addition to that of the node.
  };
  struct Ask {
    cluster::Demand demand{};
    std::vector<Way> ways{};
    double waits_cost = 0;  ///< Cost of the job if it does not start now.
  };
  struct Choice {
    NodeId node{};
    int gpus = 0;  ///< 0 if it waits.
  };

  /// Places jobs in `ledger`, a working copy.
  explicit NodeSearch(cluster::Ledger& ledger) : ledger_(ledger) {}

  /// Adds a node that jobs may use.
  void offer(const Offer& node) { nodes_.push_back(node); }
  bool any_free() const;
  /// Returns the choice of each job, and carries it out in the ledger. Starting comes before
  /// waiting at equal cost. After `most_steps` steps the best choice so far counts; it is never
  /// worse than the cheapest choice for one job after another.
  /// Cost     most_steps x different nodes x ways
  std::vector<Choice> place(const std::vector<Ask>& jobs, int most_steps);

 private:
  struct Pick {
    std::size_t node = 0;
    const Way* way = nullptr;  // null if it waits
  };
  struct Room;

  Room room_of(const Offer& node) const;
  double cost_of(const Pick& pick, const Ask& job) const;
  void use(const Pick& pick, const Ask& job);
  void branch(const std::vector<Ask>& jobs, std::size_t at, double cost);

  cluster::Ledger& ledger_;
  std::vector<Offer> nodes_;
  std::vector<Pick> now_, best_;
  double best_cost_ = 0;
  int steps_left_ = 0;
};

}  // namespace almanac::policy
