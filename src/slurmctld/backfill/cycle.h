// SPDX-License-Identifier: Apache-2.0

/// \file
/// One cycle of the backfill scheduler.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "slurmctld/backfill/node_space.h"
#include "slurmctld/main_loop/state.h"

namespace almanac::slurmctld {

/// Starts jobs that delay no planned start of the jobs before them in the queue, and plans starts
/// for the others.
///
/// Source   Slurm 22.05, plugins/sched/backfill/backfill.c (_attempt_backfill).
/// Differs  Takes no time. Without bf_continue, a cycle ends where a real one would first yield its
///          locks, as if jobs always changed meanwhile; only if sdiag gives the time of a test.
class BackfillCycle {
 public:
  explicit BackfillCycle(State& state);

  /// Looks at the queue. With `plan_all`, plans all jobs that Slurm would; without, it stops after
  /// the last job that could start at once, which starts the same jobs.
  void run(Seconds now, bool plan_all);

 private:
  /// How many jobs of an entity were tested.
  struct Counts {
    int total = 0;
    std::map<PartitionAt, int> by_partition;
    std::map<std::string, int> by_user;
    std::map<std::pair<std::string, PartitionAt>, int> by_user_and_partition;
    std::map<std::uint32_t, int> by_association;
    std::map<PartitionAt, int> reserved;
    int started = 0;
  };

  enum class Outcome : std::uint8_t { started, refused, busy };

  bool try_record(Job& job, PartitionAt partition, Seconds now, bool reserves);
  bool try_once(Job& job, PartitionAt partition, Seconds now, bool may_reserve);
  std::optional<PlannedStart> predict(const Job& job, PartitionAt partition, const NodeBits& nodes,
                                      Seconds now);
  void reserve(Job& job, PartitionAt partition, Seconds start, Seconds limit,
               const NodeBits& nodes);
  /// A job in several partitions keeps the earliest plan.
  static void note_plan(Job& job, Seconds start);
  bool exceeds_counts(Counts& counts, const Job& job, PartitionAt partition) const;
  bool may_reserve(const Job& job, PartitionAt partition, Seconds now) const;
  Outcome start(Job& job, PartitionAt partition, const NodeBits& nodes, Seconds now);
  Seconds longest_limit(const Job& job, PartitionAt partition, const NodeBits& nodes,
                        Seconds now) const;
  Seconds slot_end(Seconds start, Seconds limit) const;
  void find_startable_records();
  bool fits_now(Job& job, PartitionAt partition);

  State& state_;
  WillRunSettings will_run_;
  NodeSpace space_;
  Counts counts_;
  int promised_ = 0;                  // starts
  std::vector<Queue::Record> order_;  // kept for its memory
  // Whether jobs with equal requests fit now, by shape and partition.
  std::unordered_map<std::uint64_t, bool> fits_now_;
  std::vector<NodeBits> tested_;  // by zone: nodes on which a job is tested; kept for its memory
  Fit preempting_;  // where the job fits that is tested, once those that it may preempt are gone
  Seconds began_ = 0;
  Seconds resolution_ = 60;
  Seconds window_ = 0;
};

}  // namespace almanac::slurmctld
