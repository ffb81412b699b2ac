// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a host hands to a policy as it makes one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "predict/estimator.h"
#include "predict/type_speeds.h"
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

/// What a job, or an owner, used of GPUs before the policy began; of a tenant all above it used it
/// too. `from` == `until`: what counts of it by then, the earlier being forgotten in part already.
struct PastUse {
  TenantId tenant = kNoTenant;  ///< Of Cluster::tenants; kNoTenant = `user` is of none.
  NameId user = kNoName;        ///< Of the trace that the policy is shown.
  double gpu_s = 0;             ///< Evenly from `from` to `until`.
  Time from{};
  Time until{};
};

/// A metric that a trial of a sweep reported before the policy began.
struct PastReport {
  JobId trial = kNoJob;     ///< kNoJob = it has ended.
  std::int64_t number = 0;  ///< Tells trials that have ended from each other.
  double step = 0;
  double metric = 0;  ///< The larger the better.
};

/// All of a group, in the order in which they were told. Asked once, as the first of its trials
/// that have not ended comes.
using PastReports = std::function<std::vector<PastReport>(NameId group)>;

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
  /// All that was used, by what still runs too, until the policy is first asked; null = nothing is
  /// known of it.
  std::shared_ptr<const std::vector<PastUse>> past_use{};
  PastReports past_reports{};  ///< Empty = nothing was reported.
  /// What is known of how fast jobs are on types of GPUs, which a policy may add to; null = it is
  /// not to learn that: all run as fast, or as View::speeds says.
  std::shared_ptr<predict::TypeSpeeds> type_speeds{};
};

/// What an estimate is made from.
struct History {
  const trace::Trace& log;  ///< Outlives the estimate.
  /// What a learned estimate begins with; null = nothing.
  std::shared_ptr<const predict::StoredModel> model{};
};

}  // namespace almanac::policy
