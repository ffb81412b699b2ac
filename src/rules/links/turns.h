// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that wait before they send while another job sends, simulated transfer by transfer.
///
/// Source   Wang et al., "Communication contention aware scheduling of multiple deep learning
///          training jobs" (Ada-SRSF), as the project's reference restates it. A transfer begins if
///          no other is in progress. With one other in progress, of which M_old is left, it begins
///          only if M_new / M_old < b / (2 (b + eta)): a transfer of M takes b M alone, and each of
///          two takes 2 b M + eta M. It never begins while two others are in progress.
/// Differs  The fixed cost of a transfer is 0. Among waiting transfers the shortest begins first;
///          in the paper, the one of the job with the least remaining service.
#pragma once

#include <span>
#include <vector>

#include "rules/links/contention.h"

namespace almanac::links {

/// Whether a transfer of `mine` may begin while `other` is left of another one, both as transfer
/// times alone, in one unit. `eta` is the cost of contention in addition to sharing, in units of b.
inline bool may_overlap(double mine, double other, double eta = 0) {
  return mine * 2 * (1 + eta) < other;
}

/// Returns the factor, 1 or more, by which the steps of each flow are longer. Simulates all flows
/// from a common start, later by their shifts, until each has made `steps` steps or all together 64
/// times as many. Steps after the first `steps` / 2 count. A flow without a counted step takes as
/// long as its steps so far, and the one that it is in, on the mean. If `in_turn`, all flows follow
/// the rule above; otherwise each sends at once, the link carries higher priorities first, and
/// equal ones share it by demand.
/// Cost     O(transfers x flows)
std::vector<double> played_stretches(std::span<const Flow> flows, double capacity_gbps,
                                     bool in_turn, int steps = 64);

}  // namespace almanac::links
