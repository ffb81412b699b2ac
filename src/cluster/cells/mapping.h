// SPDX-License-Identifier: Apache-2.0

/// \file
/// Maps virtual cells to physical ones: the free cells that a virtual cluster gets for the cells it
/// owns.
///
/// Source   Zhao et al., OSDI'20 (HiveD), section 3.3, and the program published with it, which has
///          the same search: it backtracks at cells that are bad or not suggested, and prefers
///          cells with few opportunistic jobs.
#pragma once

#include <map>
#include <vector>

#include "cluster/cells/cell.h"
#include "cluster/cells/pool.h"

namespace almanac::cells {

/// The physical leaf of each virtual leaf.
using Bindings = std::map<const Cell*, Cell*>;

/// Finds physical leaves for all virtual leaves of the placement, or returns false. Bound leaves
/// stay bound. Cells that are owned as a whole take free cells of `pool` (null if all are bound, as
/// pinned cells are); cells inside them are in the physical cell of their parent. Changes only
/// `bindings`.
///
/// An owned virtual cell always finds a free physical cell while all nodes are healthy and
/// suggested. The pool upholds this guarantee of HiveD.
bool map_to_physical(const Placement& placement, const Pool* pool, const Nodes& suggested,
                     Bindings& bindings);

}  // namespace almanac::cells
