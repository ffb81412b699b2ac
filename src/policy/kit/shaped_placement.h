// SPDX-License-Identifier: Apache-2.0

/// \file
/// Places demands with a number of nodes, and leaves the others to another placement.
#pragma once

#include <memory>

#include "policy/slots.h"

namespace almanac::policy {

/// A demand with Demand::nodes gets that many nodes of one pool, with equal numbers of GPUs: those
/// with the fewest free GPUs, the lowest-numbered of equals. Takes the first pool that has them.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 6; best fit is our reading.
/// Cost     O(GPUs of a node + nodes of the job), unless cores or memory are short
std::unique_ptr<Placement> make_shaped_placement(std::unique_ptr<Placement> other);

}  // namespace almanac::policy
