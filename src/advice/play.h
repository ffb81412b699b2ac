// SPDX-License-Identifier: Apache-2.0

/// \file
/// The last weeks of a log, to be simulated under one policy after another.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "advice/progress.h"
#include "base/result.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "experiment/past.h"
#include "policy/composition.h"
#include "schedule/hosts.h"
#include "site/site.h"
#include "trace/trace.h"

namespace almanac::kueue {
struct Objects;
}

namespace almanac::advice {

/// How much of the log before the weeks that count is used: to be simulated, then to be learned
/// from. Earlier jobs say less, and learning from years takes long.
inline constexpr Duration kLooksBack = 24h * 7 * 9;

/// A job under one policy, or in truth.
struct Lived {
  /// Until the simulation ended if it did not start; NaN if unknown.
  double wait_s = std::nan("");
  double jct_s = std::nan("");
  bool ended = false;
};

/// Returns those for which `keep`, which is as long, is true.
std::vector<Lived> kept(const std::vector<Lived>& lived, const std::vector<bool>& keep);

/// What a simulation has in place of what its conditions say; null for the same.
struct Instead {
  std::shared_ptr<const site::Site> site{};
  std::shared_ptr<const kueue::Objects> queues{};
  const cluster::Cluster* cluster = nullptr;
};

/// What binds every simulation.
struct Conditions {
  /// Nothing if unknown; none is simulated then.
  std::optional<experiment::SiteQuotas> quotas{};
  /// Jobs of services that no policy takes anything from.
  std::unordered_set<trace::JobKey> kept{};
  /// For all policies except Slurm itself, see policy::age_capped().
  Duration age_cap = kNoDuration;
  /// The Slurm site; null if nothing is known of it but its nodes.
  std::shared_ptr<const site::Site> site{};
  std::shared_ptr<const kueue::Objects> queues{};  ///< Of a Kueue site; null for none.
  std::uint64_t seed = 0;
  const std::atomic<bool>* stop = nullptr;
  /// Of as many simulations as will run; null for none.
  Progress* progress = nullptr;
};

/// The weeks that count, and the week before them, so that the cluster is not empty at their start.
/// Jobs that ran or waited when that week began, as the log says, run on or wait from then.
class Play {
 public:
  /// Jobs without a virtual cluster run on all nodes. Fails with `unavailable` if no job ran.
  static Result<Play> of(trace::Trace log, const cluster::Cluster& nodes, Duration weeks,
                         Conditions conditions);
  /// The same jobs that were submitted in [from, until), after a day to fill the cluster.
  Play part(Time from, Time until) const;

  const trace::Trace& log() const { return log_; }
  const cluster::Cluster& cluster() const { return cluster_; }
  const Conditions& conditions() const { return conditions_; }
  Time since() const { return since_; }
  Time until() const { return until_; }
  std::size_t size() const { return counted_.size(); }
  /// Jobs that count, by their position among these.
  const trace::Job& job(std::size_t counted) const { return log_.jobs[counted_[counted]]; }
  const trace::Request& request(std::size_t counted) const { return job(counted).request; }
  long long day_of(std::size_t counted) const;
  /// Number of days with submissions that count.
  std::int64_t days() const;
  std::int64_t users() const;
  /// Jobs of these weeks that left the queue without having run, and do not count.
  std::int64_t never_ran() const { return never_ran_; }

  /// Simulates the jobs under `composition`. Returns nothing if it was stopped.
  std::optional<std::vector<Lived>> under(const policy::Composition& composition,
                                          const Instead& instead = {}) const;
  /// Whether jobs before those simulated are known, so that fair share begins with their usage.
  bool knows_past_use() const { return past_use_ != nullptr && !past_use_->empty(); }
  /// What happened; NaN where the log does not say.
  std::vector<Lived> really() const;
  /// Leaves the jobs for which `keep` is true among those that count.
  void keep(const std::vector<bool>& keep);

 private:
  Play(trace::Trace log, Time since, Time until, cluster::Cluster cluster, Conditions conditions,
       Duration run_in);
  std::unique_ptr<predict::Estimator> taught(const policy::Composition& composition) const;

  trace::Trace log_;
  std::vector<trace::Job> lessons_;
  schedule::PastUses past_use_;  // of jobs before those simulated
  Time since_;
  Time until_;
  cluster::Cluster cluster_;
  Conditions conditions_;
  std::vector<std::uint32_t> counted_;
  std::int64_t never_ran_ = 0;
  std::optional<policy::Quotas> quotas_;
};

}  // namespace almanac::advice
