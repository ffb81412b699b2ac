// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses the GPUs of a node for a job: GPUs near each other, so that the GPUs left are also near
/// each other.
///
/// Source   Amaral et al., SC'17 (topology-aware GPU scheduling): a utility with equal weights for
///          communication and fragmentation, both to be kept small; and the job's own utility
///          without fragmentation.
/// Differs  Any number of GPUs and any distances; the paper's machine has two sockets of two. The
///          communication cost of a set is relative to the nearest set of its size in the node;
///          sets in which all GPUs are as far apart as possible cost 1. Fragmentation is what the
///          set leaves free in islands that it breaks, because the paper's program gives every
///          choice on an idle machine the same cost. Interference of neighbors is not measured and
///          counts as zero. The paper halves the machine down to single GPUs; here every set is
///          tried if there are few.
#pragma once

#include <cstdint>
#include <vector>

namespace almanac::topology {

/// GPUs of a node, one bit each.
using Gpus = std::uint64_t;

/// Immutable, so threads may share one.
class Layout {
 public:
  /// Takes `distances[a][b]` = `distances[b][a]` > 0 between any two GPUs of a node with up to 64.
  explicit Layout(std::vector<std::vector<double>> distances);

  struct Choice {
    Gpus gpus = 0;
    double distance = 0;  ///< Sum over all its pairs.
    double job = 0;       ///< Utility for the job, 0 to 1; 1 for the nearest set of the node.
    double system = 0;    ///< 0 to 1, including what the set leaves free.
  };
  /// Returns the set of `count` GPUs of `free` (1 to all of them) with the highest system utility;
  /// of equal ones, the one with the lowest numbers.
  ///
  /// Cost     0.1 us per set if there are at most 1,000 sets (12 GPUs, or 3 of 16); otherwise only
  ///          sets grown from each GPU by its nearest neighbors.
  Choice choose(Gpus free, int count) const;

 private:
  Choice judge(Gpus free, Gpus chosen) const;
  double distance(Gpus chosen) const;
  Gpus grown_from(int gpu, Gpus free, int count) const;
  template <typename See>
  void each_set(Gpus free, int count, See&& see) const;

  std::vector<std::vector<double>> distances_;
  std::vector<std::vector<Gpus>> islands_;  // by distance, the smallest first: GPUs connected by
                                            // hops no longer than that
  std::vector<double> least_;               // distance of the nearest set, by number of GPUs
  double farthest_ = 0;                     // largest distance of two GPUs
};

}  // namespace almanac::topology
