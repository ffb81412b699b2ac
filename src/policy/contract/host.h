// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a host passes to a policy that it makes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/names.h"
#include "predict/estimator.h"
#include "predict/type_speeds.h"
#include "trace/trace.h"

namespace almanac::fragment {
class Mix;
}
namespace almanac::kueue {
struct Objects;
}
namespace almanac::site {
struct Site;
}

namespace almanac::policy {

/// Whether another job may share the GPUs of a job, whatever that does to their speeds. On a live
/// cluster not all pairs of a policy are possible.
using MayShare = std::function<bool(JobId host, JobId guest)>;

/// Whether a job on a node could start at once, without a boot.
using IsOn = std::function<bool(NodeId)>;

/// GPU usage of a job, or of an owner, before the policy began; it counts for all tenants above a
/// tenant too. If `from` equals `until`, the amount is already decayed up to then.
struct PastUse {
  TenantId tenant = kNoTenant;  ///< Index into Cluster::tenants; kNoTenant if `user` has none.
  NameId user = kNoName;        ///< In the trace that the policy sees.
  double gpu_s = 0;             ///< Spread evenly from `from` to `until`.
  Time from{};
  Time until{};
};

/// A metric that a trial of a sweep reported before the policy began.
struct PastReport {
  JobId trial = kNoJob;     ///< kNoJob if it has ended.
  std::int64_t number = 0;  ///< Distinguishes ended trials.
  double step = 0;
  double metric = 0;  ///< Larger is better.
};

/// Returns all reports of a group in order. Called once, when the first of its trials that have not
/// ended arrives.
using PastReports = std::function<std::vector<PastReport>(NameId group)>;

/// What is known of the site that a cluster belongs to: as its scheduler, Slurm or Kueue, knows it.
struct KnownSite {
  /// The site that the cluster was made from (site/cluster.h), so that each node of the cluster has
  /// the name of one of the site. Null if no Slurm site is known.
  std::shared_ptr<const site::Site> description{};
  /// Names of users, accounts, partitions and QOS in the requests of jobs. Must outlive the policy;
  /// null only without a description and without queues.
  const Names* names = nullptr;
  /// The queues of a Kueue site; null if unknown.
  std::shared_ptr<const kueue::Objects> queues{};
};

struct Host {
  /// Fills the estimate slot; null if no choice reads an estimate.
  std::unique_ptr<predict::Estimator> estimator{};
  MayShare may_share{};  ///< Empty if all jobs may share.
  IsOn is_on{};          ///< For nodes of the ledger; empty if all are on.
  /// Demands of future jobs, if known in advance; null lets placements use the jobs so far.
  std::shared_ptr<const fragment::Mix> mix{};
  /// Whether a job that lacks sleeping or booting nodes is bound to them, as in Slurm. If not, it
  /// takes what becomes free first.
  bool binds = false;
  /// All usage until the policy is first called, including that of jobs that still run; null if
  /// unknown.
  std::shared_ptr<const std::vector<PastUse>> past_use{};
  PastReports past_reports{};  ///< Empty if nothing was reported.
  /// Known speeds of jobs by GPU type, to which a policy may add. Null if it must not learn them:
  /// all types are equally fast, or as View::speeds says.
  std::shared_ptr<predict::TypeSpeeds> type_speeds{};
  KnownSite site{};
};

/// What an estimate is made from.
struct History {
  const trace::Trace& log;  ///< Must outlive the estimate.
  /// Start of a learned estimate; null for none.
  std::shared_ptr<const predict::StoredModel> model{};
};

}  // namespace almanac::policy
