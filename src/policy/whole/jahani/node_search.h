// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs placed together, each on one node or left to wait, so that what the nodes cost in addition
/// and what the jobs cost is least: branch and bound. A node costs its price whole for as long as
/// any job runs there.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/ledger.h"

namespace almanac::policy {

class NodeSearch {
 public:
  struct Offer {
    NodeId id{};
    double price = 0;   ///< Of a second of the whole node.
    double paid_s = 0;  ///< From now until the last job there ends.
  };
  /// One way for a job to run.
  struct Way {
    int gpus = 0;
    std::uint64_t gpu_type = 0;  ///< One bit.
    double time_s = 0;
    double cost = 0;  ///< Beside that of the node.
  };
  struct Ask {
    cluster::Demand demand{};
    std::vector<Way> ways{};
    double waits_cost = 0;  ///< What it will cost if it does not start now.
  };
  struct Choice {
    NodeId node{};
    int gpus = 0;  ///< 0 = it waits.
  };

  /// `ledger` is a working copy, where jobs are placed.
  explicit NodeSearch(cluster::Ledger& ledger) : ledger_(ledger) {}

  /// A node that jobs may have.
  void offer(const Offer& node) { nodes_.push_back(node); }
  bool any_free() const;
  /// The choice of each job, carried out in the ledger. Of choices that cost the same to start
  /// comes before to wait. After `most_steps` the best that was found stands: at worst what is
  /// cheapest for one job after the other.
  /// Cost: most_steps x nodes that differ x ways.
  std::vector<Choice> place(const std::vector<Ask>& jobs, int most_steps);

 private:
  struct Pick {
    std::size_t node = 0;
    const Way* way = nullptr;  // null = it waits
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
