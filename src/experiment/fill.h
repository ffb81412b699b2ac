// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fill experiment: jobs arrive at a cluster and none leaves; a job that does not fit is
/// dropped.
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
  /// Node and GPUs of each arriving job; nothing if it did not fit.
  std::vector<std::optional<cluster::Grant>> places{};
};

/// Places `arrivals` in the first virtual cluster of `machines`, one after the other; each gets one
/// node or is dropped. Measures fragmentation by `mix`, over nodes in the order `order` (node
/// numbers; empty for the natural order), because sums that must equal published ones depend on the
/// order. Cost: one placement each, plus about 1 us for the measure on 1,200 nodes.
Filled fill(const cluster::Cluster& machines, const policy::Placement& placement,
            std::span<const cluster::Demand> arrivals, const fragment::Mix& mix, Rng rng,
            std::span<const NodeId> order = {});

/// Demands of jobs on the first virtual cluster of a cluster that takes every job.
struct Demands {
  std::vector<cluster::Demand> jobs{};  ///< In order of submission.
  std::size_t left_out = 0;             ///< Jobs that can never start, or need several nodes.
  fragment::Mix mix{};                  ///< Of all of them.
};
Demands demands_of(const trace::Trace& trace, const cluster::Cluster& machines);

/// Draws jobs until they request `part` of the GPUs of `machines`: each once in random order, then
/// any of them again. Source   the program published with FGD, which shuffles and inflates in this
/// way.
std::vector<cluster::Demand> draw_arrivals(std::span<const cluster::Demand> jobs,
                                           const cluster::Cluster& machines, double part, Rng rng);

}  // namespace almanac::experiment
