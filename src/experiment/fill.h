// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fill experiment: jobs arrive at a cluster and none leaves; one that does not fit is dropped.
///
/// Source   Weng et al., ATC'23 (FGD), section 6, and the program published with it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "policy/slots.h"
#include "rules/fragment/curve.h"
#include "rules/fragment/mix.h"
#include "trace/trace.h"

namespace almanac::experiment {

struct Filled {
  fragment::Curve curve{};
  /// The node and GPUs of each job that arrived; nothing = it fitted nowhere.
  std::vector<std::optional<cluster::Grant>> places{};
};

/// Gives `arrivals` to the first virtual cluster of `machines`, one after the other; each has one
/// node or is dropped. What is a fragment is measured by `mix`, over nodes in order of `order`
/// (the number of each node, or empty = as they come): sums that are to equal published ones have
/// an order.
/// Cost: a placement each, and about 1 us for the measure on 1,200 nodes.
Filled fill(const cluster::Cluster& machines, const policy::Placement& placement,
            std::span<const cluster::Demand> arrivals, const fragment::Mix& mix, Rng rng,
            std::span<const NodeId> order = {});

/// What jobs ask of the first virtual cluster of a cluster that takes every job.
struct Demands {
  std::vector<cluster::Demand> jobs{};  ///< In order of submission.
  std::size_t left_out = 0;             ///< That can never start, or need several nodes.
  fragment::Mix mix{};                  ///< Of all of them.
};
Demands demands_of(const trace::Trace& trace, const cluster::Cluster& machines);

/// Draws jobs until they ask `part` of the GPUs of `machines`: each once, in a random order, then
/// again any of them.
/// Source   the program published with FGD, which shuffles and inflates so.
std::vector<cluster::Demand> draw_arrivals(std::span<const cluster::Demand> jobs,
                                           const cluster::Cluster& machines, double part, Rng rng);

}  // namespace almanac::experiment
