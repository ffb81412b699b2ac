// SPDX-License-Identifier: Apache-2.0

/// \file
/// In which queues the order of waiting workloads may be changed by their priorities without
/// evicting a running one, or taking from another queue.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kueue/setup.h"

namespace almanac::kueue {

/// Returns, by queue, why an order is not safe: "withinClusterQueue preempts in queue b"; "" = it
/// is safe. A preemption policy that compares priorities concerns its queue and all queues of its
/// tree.
std::vector<std::string> unsafe_orders(const Setup& setup);

/// Returns, by queue, another queue of its tree; "" = there is none. Kueue compares the priorities
/// of the first workloads of such queues, so an order of one takes from the other.
std::vector<std::string> sharing_queues(const Setup& setup);

/// Returns, by queue, why Almanac gives no ranks there: an order is not safe, takes from another
/// queue, or comes after past usage (`by_usage`, Objects::ordered_by_usage); "" = it may.
std::vector<std::string> rank_obstacles(const Setup& setup, const std::set<std::string>& by_usage);

}  // namespace almanac::kueue
