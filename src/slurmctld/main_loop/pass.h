// SPDX-License-Identifier: Apache-2.0

/// \file
/// One pass of the main scheduler.
#pragma once

#include <vector>

#include "slurmctld/main_loop/state.h"

namespace almanac::slurmctld {

/// Starts jobs in the order of the queue. The first job of a partition that does not fit blocks the
/// later ones of that partition, and its nodes for all partitions.
///
/// Source   Slurm 22.05, slurmctld/job_scheduler.c (_schedule).
/// Differs  Takes no time.
class MainPass {
 public:
  explicit MainPass(State& state) : state_(state) {}

  /// `full`: looks at all jobs, not only at the first default_queue_depth.
  void run(Seconds now, bool full);
  /// Tries to start a job that srun or salloc has just submitted, unless a pending job of higher
  /// priority could start. Returns whether it has started.
  /// Source   Slurm 22.05, slurmctld/job_mgr.c (job_allocate, _top_priority). Jobs of all
  /// partitions
  ///          are compared there, also of those that share no nodes.
  bool try_at_submission(Job& job, Seconds now);
  /// Whether the job was blocked in the last pass by another one of its partition.
  bool has_failed(PartitionAt partition) const {
    return partition < failed_.size() && failed_[partition];
  }

 private:
  enum class Outcome : std::uint8_t { started, skipped, blocks };

  void find_available();
  bool has_top_priority(const Job& job, Seconds now) const;
  Outcome try_record(Job& job, PartitionAt partition, Seconds now);
  void fail(PartitionAt partition);
  bool is_exempt(const Job& job, PartitionAt partition, Seconds now) const;

  State& state_;
  NodeBits available_;
  NodeBits candidates_;       // of the record that is tried; kept for its memory
  std::vector<bool> failed_;  // by partition
  std::vector<int> depth_;    // records seen, by partition
  std::size_t open_ = 0;      // records of partitions that have not failed
};

}  // namespace almanac::slurmctld
