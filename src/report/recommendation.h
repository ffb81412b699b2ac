// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policy of a run that Almanac recommends, and the baseline that it is compared with.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "experiment/summary.h"

namespace almanac::report {

using SummaryRows = std::vector<const experiment::Summary*>;

/// Whether a cluster can run the policy, and its simulation is complete.
bool is_deployable(const experiment::Summary& summary);

/// Whether the policy stops or resizes jobs of which neither a mark nor a model of their training
/// says that they can resume.
bool needs_checkpoints(const experiment::Summary& summary);

/// Whether the averages of both cover the same number of jobs, so that a ratio means something.
bool are_comparable(const experiment::Summary& one, const experiment::Summary& other);

/// Returns the position of the deployable policy with the lowest mean completion time of those that
/// need no checkpoints, or of the recommended policy (policy/recommended.h) if it is as good. If
/// all need checkpoints, returns the best of those; nothing if no policy is deployable. Passes over
/// policies under which more jobs never end than under another, as the rest then wait less.
std::optional<std::size_t> recommendation(const SummaryRows& policies);

/// Returns the fastest deployable policy of those that need checkpoints, if `best` needs none and
/// is slower.
const experiment::Summary* faster_with_checkpoints(const SummaryRows& policies,
                                                   const experiment::Summary& best);

}  // namespace almanac::report
