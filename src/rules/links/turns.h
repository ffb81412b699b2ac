// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that wait before they send while another does: single transfers over one link.
///
/// Source   Wang et al., "Communication contention aware scheduling of multiple deep learning
///          training jobs" (Ada-SRSF), as the project's reference restates it: a transfer begins
///          where no other is under way; beside one of which M_old is left, only if
///          M_new / M_old < b / (2 (b + eta)), for a transfer of M alone takes b M and each of two
///          2 b M + eta M; beside two never.
/// Differs  the fixed cost of a transfer is 0. Of those that wait the one with the shortest
///          transfer begins first, where the paper takes the one with the least service left.
#pragma once

#include <span>
#include <vector>

#include "rules/links/contention.h"

namespace almanac::links {

/// Whether a transfer of `mine` may begin beside one of which `other` is left, both as the time
/// that they take alone; `eta` is what contention costs beside sharing, in parts of b.
inline bool may_overlap(double mine, double other, double eta = 0) {
  return mine * 2 * (1 + eta) < other;
}

/// By which factor the steps of each flow are longer, 1 or more: all flows begin to compute at once
/// and are played until each has made `steps` steps, of which the second half counts, or all
/// together 64 times as many; one of which no step counts by then is taken not to be slowed.
/// All of them keep the rule if `in_turn`; else each sends at once, and those that do share the
/// link as they demand. Cost: O(transfers x flows).
std::vector<double> played_stretches(std::span<const Flow> flows, double capacity_gbps,
                                     bool in_turn, int steps = 64);

}  // namespace almanac::links
