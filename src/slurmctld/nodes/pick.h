// SPDX-License-Identifier: Apache-2.0

/// \file
/// Picks nodes among offers until a job has what it needs.
#pragma once

#include <optional>
#include <vector>

#include "slurmctld/nodes/offers.h"

namespace almanac::slurmctld {

/// A pick in progress: the nodes taken so far and what is still missing.
class Pick {
 public:
  struct Taken {
    NodeAt node = 0;
    int cpus = 0;  ///< The most CPUs that tasks may use there.
    int gpus = 0;  ///< GPUs that the node offers.
  };

  Pick(const NodeTable& table, const Question& question, const Bounds& bounds,
       std::vector<Offer>& offers);

  /// Takes a node, which counts with as many CPUs as leave one core for each further node.
  void take(Offer& offer);
  /// Takes the nodes that the job names. Returns false if one of them offers nothing.
  bool take_required();

  bool is_done() const { return nodes_left_ <= 0 && cpus_left_ <= 0 && gpus_left_ <= 0; }
  /// Whether the minimum is reached when no node is left: a range does not need its upper end.
  bool is_acceptable() const {
    return cpus_left_ <= 0 && gpus_left_ <= 0 && bounds_.is_enough(0, nodes_left_);
  }
  bool is_enough(int nodes) const { return bounds_.is_enough(nodes, nodes_left_); }

  int nodes_left() const { return nodes_left_; }  ///< Wanted nodes that are missing.
  int cpus_left() const { return cpus_left_; }
  int gpus_left() const { return gpus_left_; }  ///< Of --gpus; 0 for other requests.
  int room_for_nodes() const { return most_nodes_left_; }

  const NodeTable& table() const { return table_; }
  const Question& question() const { return question_; }
  std::vector<Offer>& offers() { return offers_; }
  const std::vector<Taken>& taken() const { return taken_; }

 private:
  const NodeTable& table_;
  const Question& question_;
  const Bounds& bounds_;
  std::vector<Offer>& offers_;
  std::vector<Taken> taken_;
  int cpus_left_;
  int most_cpus_left_;
  int nodes_left_;
  int least_nodes_left_;
  int most_nodes_left_;
  int gpus_left_;
};

/// Picks consecutive nodes, the tightest run of the lightest weight first. Slurm's default.
bool pick_consecutive(Pick& pick);
/// Picks the node with the highest fraction of free CPUs first, within the lightest weight.
bool pick_least_loaded(Pick& pick, const Room& room);
/// Picks nodes below as few and as near switches as possible (topology/tree).
bool pick_in_tree(Pick& pick);

}  // namespace almanac::slurmctld
