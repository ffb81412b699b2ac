// SPDX-License-Identifier: Apache-2.0

/// \file
/// Preemption by QOS and by partition.
#pragma once

#include <vector>

#include "slurmctld/main_loop/state.h"

namespace almanac::slurmctld {

/// Returns the queue in the order of sites with preemption: a job comes before those that it may
/// preempt, whatever their priorities. Empty: preemption is off, and the queue's own order holds.
std::vector<Queue::Record> preemption_order(const State& state);

/// Returns where the job could start now if all jobs that it may preempt on `candidates` were gone;
/// nothing if it may preempt none, or fits without, or not even so.
std::optional<Allocation> fit_by_preemption(const State& state, const Job& job,
                                            PartitionAt partition, const NodeBits& candidates,
                                            Seconds now);

/// Asks running jobs to make room for `job`, if it may preempt enough of them to start on
/// `candidates`. The victims are in State::preemptions; the job starts when they are gone.
///
/// Source   Slurm 22.05, slurmctld/preempt.c, plugins/preempt/qos, preempt/partition_prio;
///          select/cons_common/job_test.c (_run_now).
/// Differs  Victims are never suspended.
void preempt_for(State& state, Job& job, PartitionAt partition, const NodeBits& candidates,
                 Seconds now);

}  // namespace almanac::slurmctld
