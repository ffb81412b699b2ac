// SPDX-License-Identifier: Apache-2.0

/// \file
/// A placement that gives each job, parts of GPUs included, the node that a rule scores best.
#pragma once

#include <memory>

#include "policy/contract/host.h"
#include "policy/slots.h"
#include "rules/fragment/rule.h"

namespace almanac::policy {

/// A job that fits no node whole is placed as `consolidate` does, a CPU job of several tasks as all
/// do. Of equal scores the lowest-numbered node wins. The mix of demands is the host's, or what has
/// come so far: it is looked at anew each time that half as many have come again. What each kind of
/// request scores on each node is remembered. Instances go where a rule that looks at what is to
/// come makes fewest slices a fragment (kit/instances.h), else as under other placements.
///
/// Cost     O(nodes), about 3 us for 1,200, and a score for each node that has changed since the
///          last request of that kind.
std::unique_ptr<Placement> make_scored_placement(std::unique_ptr<fragment::Rule> rule,
                                                 const Host& host);

}  // namespace almanac::policy
