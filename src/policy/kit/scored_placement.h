// SPDX-License-Identifier: Apache-2.0

/// \file
/// A placement that gives each job, parts of GPUs included, the node with the best score of a rule.
#pragma once

#include <memory>

#include "policy/contract/host.h"
#include "policy/slots.h"
#include "rules/fragment/rule.h"

namespace almanac::policy {

/// Places a job that fits on no node whole as `consolidate` does, and a CPU job of several tasks as
/// all placements do. Among equal scores the lowest-numbered node wins. The mix of demands is the
/// host's, or that of the jobs so far, updated each time their number has grown by half. Scores are
/// cached per kind of request and node. Instances go where a rule that reads the outlook fragments
/// the fewest slices (kit/instances.h), else as under other placements.
///
/// Cost     O(nodes), about 3 us for 1,200, and a score for each node that has changed since the
///          last request of that kind
std::unique_ptr<Placement> make_scored_placement(std::unique_ptr<fragment::Rule> rule,
                                                 const Host& host);

}  // namespace almanac::policy
