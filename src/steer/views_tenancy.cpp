// SPDX-License-Identifier: Apache-2.0

/// \file
/// The usage and the fair share of a managed cluster's accounts and users.
#include <map>
#include <set>
#include <utility>

#include "service/policies.h"
#include "steer/record.h"
#include "steer/views.h"

namespace almanac::steer {
namespace {

/// What the manager itself counts as used, of a tenant and all below it.
void tell_use(const std::vector<policy::PastUse>& uses, const cluster::Cluster& cluster,
              service::Tenancy& tenancy) {
  std::map<std::string, double> counts;
  for (const policy::PastUse& use : uses) {
    auto at = static_cast<std::int32_t>(index(use.tenant));
    while (at >= 0) {
      const cluster::Tenant& tenant = cluster.tenants[static_cast<std::size_t>(at)];
      counts[tenant.name] += use.gpu_s;
      at = tenant.parent;
    }
  }
  for (service::TenantView& each : tenancy.tenants) each.use_gpu_s = counts[each.name];
}

/// How many GPUs the manager lets an account hold, or a user of one.
void tell_limits(const manager::Limits& limits, service::Tenancy& tenancy) {
  for (const manager::Quota& quota : limits.quotas) {
    if (!quota.qos.empty() || quota.gpus == manager::Quota::kAny) continue;
    const std::string name = name_of({quota.account, quota.user, quota.partition});
    for (service::TenantView& each : tenancy.tenants) {
      if (each.name == name) each.limit = quota.gpus;
    }
  }
}

}  // namespace

TenantId Views::tenant_of(const store::Job& job) const {
  return steer::tenant_of(known_.world->tenants, job.asked->account, job.asked->user,
                          job.asked->partition);
}

Result<service::Tenancy> Views::tenancy() const {
  return tenancy_.get([this] { return make_tenancy(); });
}

Result<service::Tenancy> Views::make_tenancy() const {
  std::vector<store::Job> jobs;
  std::set<store::JobNumber> known;
  std::shared_ptr<const World> world;
  std::vector<policy::PastUse> uses;
  manager::Limits limits;
  Time now{};
  Duration half_life{};
  {
    const std::lock_guard lock(known_.mutex);
    world = known_.world;
    now = known_.mirror.at();
    half_life = service::half_life_of(known_.decider->policy().composition);
    for (const auto& [number, job] : known_.mirror.jobs()) {
      jobs.push_back(to_stored(job, *world));
      known.insert(jobs.back().number);
    }
    uses = past_use_of(known_.mirror.associations(), world->tenants, now);
    limits = known_.mirror.limits();
  }
  auto ended = known_.store.ended(now - service::kLesson, service::kLessons);
  if (!ended) return tl::unexpected(ended.error());
  for (store::Job& job : *ended) {
    if (!known.contains(job.number)) jobs.push_back(std::move(job));
  }
  const Duration own_half_life = known_.site.facts.half_life;
  const bool is_own = !world->tenants.empty() && own_half_life > Duration{0};
  service::Tenancy made = service::tenancy_of(
      jobs, world->cluster,
      [&](const store::Job& job) {
        return steer::tenant_of(world->tenants, job.asked->account, job.asked->user,
                                job.asked->partition);
      },
      now, is_own ? own_half_life : half_life);
  if (is_own) {
    tell_use(uses, world->cluster, made);
    made.use_by = known_.site.manager;
  }
  tell_limits(limits, made);
  return made;
}

}  // namespace almanac::steer
