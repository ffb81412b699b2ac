// SPDX-License-Identifier: Apache-2.0

/// \file
/// Who had how much of its due lately, and what its use counts: tenants of the cluster, else users,
/// all alike. The figures are those of a simulated run (rules/fairness/dues.h), over the last days.
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

/// Dues are over so long a time, or since the first job that is known.
inline constexpr Duration kDuesOver = 24h * 7;

/// A tenant with all below it, or a user. Of a tenant that is above others `lent`, `borrowed` and
/// the finish-time ratio are those of its own jobs.
struct TenantView {
  std::string name{};                                           ///< "" = all jobs of no tenant.
  std::string parent{};                                         ///< "" = it is none's.
  double guarantee = std::numeric_limits<double>::quiet_NaN();  ///< GPUs; NaN = a user has none.
  double limit = std::numeric_limits<double>::quiet_NaN();      ///< GPUs; NaN = it has none.
  std::int64_t running = 0, waiting = 0;                        ///< GPU jobs.
  double gpus_held = 0, gpus_waiting = 0;                       ///< As jobs ask them.
  double had_gpu_s = 0, due_gpu_s = 0;
  double lent_gpu_s = 0, borrowed_gpu_s = 0;
  double finish_time_ratio = std::numeric_limits<double>::quiet_NaN();  ///< NaN = none finished.
  double use_gpu_s = 0;  ///< What its use counts now, being forgotten with the half-life.
};

struct TenantLoan {
  std::string from{};
  std::string to{};
  double gpu_s = 0;
};

struct Tenancy {
  bool by_tenant = false;
  Time from{}, to{};     ///< Of the dues.
  Duration half_life{};  ///< Of the use.
  std::string use_by{};  ///< Whose word the use is, where another manager tells it: "slurm".
  double share_error = 0;
  double jain = 1;
  double finish_time_ratio = std::numeric_limits<double>::quiet_NaN();
  double unfair_jobs = std::numeric_limits<double>::quiet_NaN();
  std::string worst{};  ///< Who had least of its due; "" = nobody was due any.
  double worst_due = 1;
  std::vector<TenantView> tenants{};  ///< A tenant before those below it; users by what they had.
  std::vector<TenantLoan> loans{};    ///< The largest first.
};

/// Whether the policy is one that is fair to owners by what they have used.
bool goes_by_use(const policy::Composition& composition);
/// What each use of `tenancy` counts, those of tenants above others without these.
std::vector<OwnUse> own_uses(const Tenancy& tenancy, const cluster::Cluster& cluster);

/// After which use counts half: what the policy goes by, else a week.
Duration half_life_of(const policy::Composition& composition);

using TenantOf = std::function<TenantId(const store::Job&)>;
/// As simulator and policies name it: by the virtual cluster of a job, else by its user.
TenantId tenant_of(const store::Job& job, const cluster::Cluster& cluster);

/// `jobs` are those that wait or run and those that ended in the last kLesson before `now`, of
/// which only use counts that is older than kDuesOver. The GPUs are taken to have been there all
/// the time. Cost: O(jobs + tenants).
Tenancy tenancy_of(std::span<const store::Job> jobs, const cluster::Cluster& cluster,
                   const TenantOf& tenant_of, Time now, Duration half_life);

/// Works it out when it is asked for, and again only when that was some seconds ago: of many jobs
/// it takes a while. Thread-safe.
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
/// = it is none of `tenancy`.
std::string beside_its_due(const Tenancy& tenancy, const std::string& name);

}  // namespace almanac::service
