// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fraction of a cluster that each of the given owners deserves, from the top of the tree of
/// tenants down.
#pragma once

#include <span>
#include <vector>

#include "policy/contract/contract.h"
#include "policy/kit/owner.h"

namespace almanac::policy {

/// Returns the fractions of `owners`, which must be distinct, in their order; they sum to 1. At
/// each level, siblings that are owners, or have one below them, divide their parent's fraction by
/// guarantee. A parent's own jobs count with what its children leave of its guarantee. Users
/// without a tenant are at the top, with one GPU each. If no sibling has a guarantee, all are
/// equal.
///
/// Cost     O(tenants + owners)
std::vector<double> parts_of_tree(std::span<const Owner> owners, const View& view);

}  // namespace almanac::policy
