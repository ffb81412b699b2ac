// SPDX-License-Identifier: Apache-2.0

/// \file
/// Usage against fair share by tenant, or by user with equal shares if the cluster has no tenants.
/// The figures are those of a simulation (rules/fairness/dues.h), over the last days.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "policy/composition.h"
#include "service/clock.h"
#include "service/foresight.h"
#include "store/job.h"

namespace almanac::service {

/// Fair shares are computed over this time, or since the first known job.
inline constexpr Duration kDuesOver = 24h * 7;

/// A tenant with all tenants below it, or a user. For a tenant above others, `lent`, `borrowed` and
/// the finish-time ratio count its own jobs only.
struct TenantView {
  std::string name{};    ///< "" for all jobs without a tenant.
  std::string parent{};  ///< "" at the top.
  double guarantee = std::numeric_limits<double>::quiet_NaN();  ///< GPUs; NaN for a user.
  double limit = std::numeric_limits<double>::quiet_NaN();      ///< GPUs; NaN if there is none.
  std::int64_t running = 0, waiting = 0;                        ///< GPU jobs.
  double gpus_held = 0, gpus_waiting = 0;                       ///< As requested.
  double used_gpu_s = 0, fair_share_gpu_s = 0;
  double lent_gpu_s = 0, borrowed_gpu_s = 0;
  double finish_time_ratio = std::numeric_limits<double>::quiet_NaN();  ///< NaN if no job finished.
  double use_gpu_s = 0;                                                 ///< Decayed usage.
};

struct TenantLoan {
  std::string from{};
  std::string to{};
  double gpu_s = 0;
};

struct Tenancy {
  bool by_tenant = false;
  Time from{}, to{};     ///< Period of the fair shares.
  Duration half_life{};  ///< Half-life of usage.
  std::string use_by{};  ///< The manager that reports the usage: "slurm"; "" if the service counts
                         ///< it.
  double share_error = 0;
  double jain = 1;
  double finish_time_ratio = std::numeric_limits<double>::quiet_NaN();
  double unfair_jobs = std::numeric_limits<double>::quiet_NaN();
  std::string worst{};  ///< The tenant or user furthest below its fair share; "" if none had a
                        ///< fair share.
  double worst_fair_share = 1;
  std::vector<TenantView> tenants{};  ///< A tenant before those below it; users by usage.
  std::vector<TenantLoan> loans{};    ///< The largest first.
};

/// Whether the policy orders owners by past usage.
bool goes_by_use(const policy::Composition& composition);
/// The decayed usage of each tenant of `tenancy`, without that of the tenants below it.
std::vector<OwnUse> own_uses(const Tenancy& tenancy, const cluster::Cluster& cluster);

/// Half-life of usage: that of the policy, else a week.
Duration half_life_of(const policy::Composition& composition);

using TenantOf = std::function<TenantId(const store::Job&)>;
/// The tenant as simulator and policies find it: by the virtual cluster of a job, else by its user.
TenantId tenant_of(const store::Job& job, const cluster::Cluster& cluster);

/// `jobs` are the unfinished ones and those that ended within kLesson before `now`. What ended
/// before kDuesOver counts as usage only. Assumes that all GPUs were there all the time. Cost:
/// O(jobs + tenants).
Tenancy tenancy_of(std::span<const store::Job> jobs, const cluster::Cluster& cluster,
                   const TenantOf& tenant_of, Time now, Duration half_life);

/// Caches the tenancy for some seconds, because computing it takes a while with many jobs.
/// Thread-safe.
class TenancyKeeper {
 public:
  using Make = std::function<Result<Tenancy>()>;
  /// `clock` must outlive it.
  explicit TenancyKeeper(const Clock& clock = machine_clock()) : clock_(clock) {}
  Result<Tenancy> get(const Make& make) const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  mutable std::optional<Tenancy> last_;
  mutable Clock::Instant made_at_{};
};

/// "tenant vision got 14 % more than its fair share in the last 7 days (114 of 100 GPU-hours)"; ""
/// if `tenancy` does not have `name`.
std::string beside_its_due(const Tenancy& tenancy, const std::string& name);

}  // namespace almanac::service
