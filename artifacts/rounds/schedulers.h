// SPDX-License-Identifier: Apache-2.0

/// \file
/// The schedulers of Muri's simulator that share GPUs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rounds/engine.h"
#include "rules/interleave/groups.h"

namespace almanac::rounds {

/// The groups that the published simulator forms of `jobs`, in its order: as interleave::group()
/// does, but by the matching of blossom.h, all numbers of GPUs at once, and merged until they fit
/// into `gpus`.
std::vector<interleave::Group> published_groups(std::span<const interleave::Candidate> jobs,
                                                int gpus);

/// `by_remaining`: Muri-S, which knows how long jobs run; else Muri-L.
std::unique_ptr<Scheduler> make_muri(const Machines& machines, bool by_remaining);

std::unique_ptr<Scheduler> make_antman(const Machines& machines);

}  // namespace almanac::rounds
