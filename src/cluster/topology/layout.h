// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which GPUs of a node a job is best given: those that lie near each other, and leave those that
/// lie near each other together.
///
/// Source   Amaral et al., SC'17 (topology-aware GPU scheduling): a utility of costs that are to be
///          small, of communication and of fragmentation, neither weighing more; and of the job's
///          own without fragmentation.
/// Differs  Any number of GPUs and any distances between them; the paper's machine has two sockets
///          of two. A set costs by how far it is from the nearest that the node has of as many,
///          where all as far apart as any two is 1. Fragmentation is what the set leaves free in
///          islands that it breaks, for the paper's program counts the same for every choice on an
///          idle machine. Of neighbours nothing is measured, so that none counts as harmful. The
///          paper halves the machine until it comes to single GPUs; here all sets are looked at
///          where they are few.
#pragma once

#include <cstdint>
#include <vector>

namespace almanac::topology {

/// GPUs of a node, one bit each.
using Gpus = std::uint64_t;

/// Immutable, so that threads may share one.
class Layout {
 public:
  /// `distances[a][b]` = `distances[b][a]`, above 0, between two GPUs of a node of 64 at most.
  explicit Layout(std::vector<std::vector<double>> distances);

  struct Choice {
    Gpus gpus = 0;
    double distance = 0;  ///< Over all its pairs.
    double job = 0;       ///< Utility to the job, 0 to 1: 1 = as near each other as the node has.
    double system = 0;    ///< 0 to 1, with what is left counted too.
  };
  /// Of the sets of `count` of `free`, 1 to all of them, the one of most use to the system; of
  /// equals that of the lowest numbers.
  ///
  /// Cost     all sets where they are 1,000 at most (12 GPUs, or 3 of 16), 0.1 us each; else those
  ///          that grow from each GPU by the nearest.
  Choice choose(Gpus free, int count) const;

 private:
  Choice judge(Gpus free, Gpus chosen) const;
  double distance(Gpus chosen) const;
  Gpus grown_from(int gpu, Gpus free, int count) const;
  template <typename See>
  void each_set(Gpus free, int count, See&& see) const;

  std::vector<std::vector<double>> distances_;
  std::vector<std::vector<Gpus>> islands_;  // by distance, the least first: GPUs no farther apart
                                            // than that, from one to the next
  std::vector<double> least_;               // distance of the nearest set, by number of GPUs
  double farthest_ = 0;                     // of two GPUs
};

}  // namespace almanac::topology
