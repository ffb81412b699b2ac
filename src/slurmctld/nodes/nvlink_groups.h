// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses nodes for a job whose GPUs are in groups that must each share an NVLink domain.
#pragma once

#include <optional>

#include "slurmctld/nodes/offers.h"

namespace almanac::slurmctld {

/// Whether the GPUs that an allocation has of each NVLink domain are whole groups of `nvlink_gpus`.
/// Cost: O(shares squared)
bool is_in_groups(const NodeTable& table, const Allocation& allocation, int nvlink_gpus);

/// A choice of nodes that ignores groups.
using FreeChoice = std::optional<Allocation> (*)(const Room& room, const Question& question);

/// Returns nodes on which the groups of a job fit, or nothing: those of the first domain, in the
/// order of the node table, that holds all groups. If none does, the domain that holds most groups
/// takes them, then the next one. `usual` is what `choose` returns for all domains together; it
/// also picks nodes within a domain.
///
/// Source   Slurm's topology/block with --segment: a job is made of segments, each in one block.
/// Differs  Slurm counts nodes, this counts GPUs.
/// Cost     O(domains x groups) choices
std::optional<Allocation> choose_in_groups(const Room& room, const Question& question,
                                           const Allocation& usual, FreeChoice choose);

}  // namespace almanac::slurmctld
