// SPDX-License-Identifier: Apache-2.0

/// \file
/// Groups of jobs as Muri's published simulator forms them, to the last bit: jobs alike make many
/// groups equally good, and rounding is what chooses among them. interleave/groups.h has the rule.
///
/// Source   the simulator published with Zhao et al., SIGCOMM'22 (Muri).
#pragma once

#include <span>
#include <vector>

#include "interleave/groups.h"

namespace almanac::rounds {

/// Seconds that an iteration of each job of a group takes.
double published_iteration(const interleave::Group& group,
                           std::span<const interleave::Candidate> jobs);

/// The groups of `jobs`, in that program's order. It matches groups of equal GPU counts by
/// blossom.h, and merges until the groups fit into `gpus`.
/// Cost: up to four matchings a number of GPUs.
std::vector<interleave::Group> form_groups(std::span<const interleave::Candidate> jobs, int gpus);

}  // namespace almanac::rounds
