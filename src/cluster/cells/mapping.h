// SPDX-License-Identifier: Apache-2.0

/// \file
/// Virtual cells onto physical ones: which free cells a virtual cluster gets for those that it
/// owns.
///
/// Source   Zhao et al., OSDI'20 (HiveD), section 3.3, and the program published with it, whose
/// search this is: it goes back where a cell is bad or not suggested, and it prefers cells with
/// few opportunistic jobs.
#pragma once

#include <map>
#include <vector>

#include "cluster/cells/cell.h"
#include "cluster/cells/pool.h"

namespace almanac::cells {

/// The physical leaf of each virtual one.
using Bindings = std::map<const Cell*, Cell*>;

/// Finds physical leaves for all virtual leaves of the placement, or says false. Leaves that are
/// bound stay so. Cells that are owned as a whole take free cells of `pool` (null where all are
/// bound, as pinned ones are); cells within lie in the physical cell of the one above. Changes
/// nothing but `bindings`.
///
/// A virtual cell that is owned always finds a free physical one while all nodes are healthy and
/// suggested: that is HiveD's guarantee, which the pool upholds.
bool map_to_physical(const Placement& placement, const Pool* pool, const Nodes& suggested,
                     Bindings& bindings);

}  // namespace almanac::cells
