// SPDX-License-Identifier: Apache-2.0

/// \file
/// Places demands that say on how many nodes they lie, and leaves the others to another placement.
#pragma once

#include <memory>

#include "policy/slots.h"

namespace almanac::policy {

/// A demand with Demand::nodes lies on so many nodes of one pool, with as many of its GPUs on each:
/// on those with the fewest free GPUs, of equals the lowest-numbered. Of pools the first that has
/// them.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 6; best fit is the design texts' reading.
/// Cost     O(GPUs of a node + nodes of the job), where cores and memory do not bind.
std::unique_ptr<Placement> make_shaped_placement(std::unique_ptr<Placement> other);

}  // namespace almanac::policy
