// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which nodes are not promised to pending jobs, over the time that one backfill cycle plans.
#pragma once

#include <cstddef>
#include <vector>

#include "slurmctld/jobs/submission.h"
#include "slurmctld/nodes/node_bits.h"

namespace almanac::slurmctld {

/// Whole nodes are promised, even to jobs that need only a part. Excludes running jobs.
///
/// Source   Slurm 22.05, plugins/sched/backfill/backfill.c (node_space_map_t, _add_reservation,
///          _test_resv_overlap).
class NodeSpace {
 public:
  struct Record {
    Seconds begin = 0;
    Seconds end = 0;
    NodeBits nodes{};  ///< Not promised.
  };

  NodeSpace(Seconds begin, Seconds end, NodeBits nodes) {
    records_.push_back({begin, end, std::move(nodes)});
  }

  /// Narrows `nodes` to those without another job from `start` to `end`. Returns when more of them
  /// become free, or 0.
  Seconds narrow(NodeBits& nodes, Seconds start, Seconds end);
  /// Whether a part of `nodes` is promised for a part of the time.
  bool is_promised(const NodeBits& nodes, Seconds start, Seconds end) const;
  void promise(const NodeBits& nodes, Seconds start, Seconds end);
  const std::vector<Record>& records() const { return records_; }

 private:
  std::vector<Record> records_;  // in order of time, without gaps
  NodeBits before_;              // what narrow() got; kept for its memory
};

}  // namespace almanac::slurmctld
