// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses the nodes of a job as select/cons_tres does, and what the job gets of each.
#pragma once

#include <optional>

#include "slurmctld/nodes/offers.h"

namespace almanac::slurmctld {

/// Returns the nodes that a job would start on now, or nothing. Deterministic.
///
/// Source   Slurm 22.05, select/cons_tres/job_test.c (_job_test, choose_nodes), dist_tasks.c;
///          select/cons_common/job_test.c.
/// Differs  CPUs and GPUs are counted, and cores are dealt to sockets in turn: the numbers of cores
///          and GPUs within a node are not predicted.
/// Cost     O(candidates), times the number of distinct offers if the first pick fails.
std::optional<Allocation> choose(const Room& room, const Question& question);

/// Whether choose() would find nodes.
bool can_start(const Room& room, const Question& question);

}  // namespace almanac::slurmctld
