// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which part of a cluster each owner is due of those that want any, from the top of the tree of
/// tenants down.
#pragma once

#include <span>
#include <vector>

#include "policy/contract/contract.h"
#include "policy/kit/owner.h"

namespace almanac::policy {

/// The parts of `owners`, different ones, in their order; they sum to 1. At each level siblings
/// that are owners, or have one below them, divide what their parent has by their guarantees; a
/// parent's own jobs count with what its children leave of its guarantee. Users that are no tenant
/// stand at the top, each with one GPU. Where none of the siblings has a guarantee they are alike.
///
/// Cost: O(tenants + owners).
std::vector<double> parts_of_tree(std::span<const Owner> owners, const View& view);

}  // namespace almanac::policy
