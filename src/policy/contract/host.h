// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a host hands to a policy as it makes one.
#pragma once

#include <functional>
#include <memory>

#include "base/ids.h"
#include "predict/estimator.h"
#include "trace/trace.h"

namespace almanac::fragment {
class Mix;
}

namespace almanac::policy {

/// Whether a job may be joined by another on the GPUs that it holds, whatever that does to their
/// speeds: of a live cluster not all that a policy could pair can be brought together.
using MayShare = std::function<bool(JobId host, JobId guest)>;

/// Whether a job on a node could begin at once, where that needs no boot first.
using IsOn = std::function<bool(NodeId)>;

struct Host {
  /// Answers the estimate slot; null where no choice asks an estimate.
  std::unique_ptr<predict::Estimator> estimator{};
  MayShare may_share{};  ///< Empty = all jobs may.
  IsOn is_on{};          ///< Of nodes that the ledger gives; empty = all are.
  /// What jobs to come ask, where that is known beforehand; null = placements go by what has come.
  std::shared_ptr<const fragment::Mix> mix{};
  /// A job that lacks nodes which sleep or boot is bound to them, as Slurm does; else it takes what
  /// comes free first.
  bool binds = false;
};

/// What an estimate is made from.
struct History {
  const trace::Trace& log;  ///< Outlives the estimate.
  /// What a learned estimate begins with; null = nothing.
  std::shared_ptr<const predict::StoredModel> model{};
};

}  // namespace almanac::policy
