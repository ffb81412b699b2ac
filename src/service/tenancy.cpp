// SPDX-License-Identifier: Apache-2.0
#include "service/tenancy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "policy/registry.h"
#include "rules/fairness/decayed_use.h"
#include "rules/fairness/dues.h"
#include "store/asked_gpus.h"
#include "text/human.h"

namespace almanac::service {
namespace {

using trace::JobState;

/// What policies that go by use are told of it.
constexpr std::string_view kHalfLife = "half_life_s";

/// The rows, each an owner of jobs: all tenants and one of all other jobs, or users as they come.
class Rows {
 public:
  Rows(const cluster::Cluster& cluster, const TenantOf& tenant_of)
      : cluster_(cluster), tenant_of_(tenant_of) {
    for (const cluster::Tenant& each : cluster.tenants) {
      rows_.push_back({.name = each.name, .guarantee = each.guarantee});
      const double most = each.may_borrow ? each.limit : std::min(each.limit, each.guarantee);
      if (most < cluster::Tenant::kNoLimit) rows_.back().limit = most;
      if (each.parent >= 0) {
        rows_.back().parent = cluster.tenants[static_cast<std::size_t>(each.parent)].name;
        has_below_.insert(static_cast<std::size_t>(each.parent));
      }
    }
  }

  std::size_t of(const store::Job& job) {
    const std::size_t tenants = cluster_.tenants.size();
    const TenantId tenant = tenants > 0 ? tenant_of_(job) : kNoTenant;
    const std::size_t row = tenant != kNoTenant ? index(tenant)
                            : tenants > 0       ? other("", tenants)
                                                : other(job.asked->user, rows_.size());
    has_jobs_.insert(row);
    return row;
  }
  /// A tenant above others has its guarantee for them, unless jobs name it.
  std::vector<fairness::Claimant> claimants() const {
    std::vector<fairness::Claimant> made;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const bool is_tenant = row < cluster_.tenants.size();
      const bool claims = has_jobs_.contains(row) || !has_below_.contains(row);
      made.push_back({.name = rows_[row].name,
                      .weight = !is_tenant ? (cluster_.tenants.empty() ? 1.0 : 0.0)
                                : claims   ? rows_[row].guarantee
                                           : 0.0});
    }
    return made;
  }
  std::vector<TenantView>& all() { return rows_; }

 private:
  std::size_t other(const std::string& name, std::size_t next) {
    const auto [found, is_new] = others_.try_emplace(name, next);
    if (is_new) rows_.push_back({.name = name});
    return found->second;
  }

  const cluster::Cluster& cluster_;
  const TenantOf& tenant_of_;
  std::vector<TenantView> rows_;
  std::map<std::string, std::size_t> others_;
  std::set<std::size_t> has_below_;
  std::set<std::size_t> has_jobs_;
};

fairness::Stay stay_of(const store::Job& job, std::size_t owner, Time from, Time now) {
  const bool is_over = job.end != kNoTime;
  fairness::Stay made{.owner = owner,
                      .gpus = store::gpus_of(job.asked),
                      .submit_s = seconds(job.submit - from),
                      .end_s = seconds((is_over ? job.end : now) - from)};
  if (job.start == kNoTime) return made;
  const bool runs = job.state == JobState::running;
  made.start_s = seconds(job.start - from);
  made.ran_s = seconds(job.attained + (runs ? std::max(Duration{0}, now - job.since) : 0s));
  if (is_over) made.alone_s = made.ran_s;
  return made;
}

/// Has each tenant count for those above it.
void add_up(std::vector<TenantView>& rows, const cluster::Cluster& cluster) {
  for (std::size_t row = cluster.tenants.size(); row-- > 0;) {
    if (cluster.tenants[row].parent < 0) continue;
    TenantView& above = rows[static_cast<std::size_t>(cluster.tenants[row].parent)];
    const TenantView& below = rows[row];
    above.running += below.running;
    above.waiting += below.waiting;
    above.gpus_held += below.gpus_held;
    above.gpus_waiting += below.gpus_waiting;
    above.used_gpu_s += below.used_gpu_s;
    above.fair_share_gpu_s += below.fair_share_gpu_s;
    above.use_gpu_s += below.use_gpu_s;
  }
}

/// Each tenant before those below it, which follow it.
std::vector<TenantView> in_tree_order(std::vector<TenantView> rows,
                                      const cluster::Cluster& cluster) {
  std::vector<std::vector<std::size_t>> below(cluster.tenants.size() + 1);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const bool has_parent = row < cluster.tenants.size() && cluster.tenants[row].parent >= 0;
    below[has_parent ? static_cast<std::size_t>(cluster.tenants[row].parent)
                     : cluster.tenants.size()]
        .push_back(row);
  }
  std::vector<TenantView> made;
  std::vector<std::size_t> next(below.back().rbegin(), below.back().rend());
  while (!next.empty()) {
    const std::size_t row = next.back();
    next.pop_back();
    made.push_back(std::move(rows[row]));
    if (row < cluster.tenants.size()) {
      next.insert(next.end(), below[row].rbegin(), below[row].rend());
    }
  }
  return made;
}

}  // namespace

bool goes_by_use(const policy::Composition& composition) {
  if (composition.whole.name.empty()) return false;
  const std::vector<policy::Parameter>& known =
      policy::registry().wholes.at(composition.whole.name).parameters;
  return std::any_of(known.begin(), known.end(),
                     [](const policy::Parameter& each) { return each.name == kHalfLife; });
}

std::vector<OwnUse> own_uses(const Tenancy& tenancy, const cluster::Cluster& cluster) {
  std::map<std::string, double> own;
  for (const TenantView& each : tenancy.tenants) {
    own[each.name] += each.use_gpu_s;
    if (!each.parent.empty()) own[each.parent] -= each.use_gpu_s;
  }
  std::vector<OwnUse> made;
  for (const auto& [name, gpu_s] : own) {
    if (!(gpu_s > 0)) continue;
    const TenantId tenant = tenancy.by_tenant ? cluster.find_tenant(name) : kNoTenant;
    if (tenancy.by_tenant && tenant == kNoTenant) continue;  // of users who are none are many
    made.push_back({.tenant = tenant, .user = tenancy.by_tenant ? "" : name, .gpu_s = gpu_s});
  }
  return made;
}

Duration half_life_of(const policy::Composition& composition) {
  constexpr Duration kSlurms = 24h * 7;  // PriorityDecayHalfLife, and what fair_share goes by
  const auto told = composition.whole.told.find(std::string(kHalfLife));
  if (told == composition.whole.told.end() || told->second.size() != 1) return kSlurms;
  return Duration{std::llround(told->second.front() * 1e3)};
}

TenantId tenant_of(const store::Job& job, const cluster::Cluster& cluster) {
  const TenantId named = cluster.find_tenant(job.asked->vc);
  return named != kNoTenant ? named : cluster.find_tenant(job.asked->user);
}

Tenancy tenancy_of(std::span<const store::Job> jobs, const cluster::Cluster& cluster,
                   const TenantOf& tenant_of, Time now, Duration half_life) {
  Tenancy made{
      .by_tenant = !cluster.tenants.empty(), .from = now, .to = now, .half_life = half_life};
  for (const store::Job& job : jobs) {
    if (job.asked->gpus > 0) made.from = std::min(made.from, job.submit);
  }
  made.from = std::max(made.from, now - kDuesOver);
  Rows rows(cluster, tenant_of);
  std::vector<fairness::Stay> stays;
  for (const store::Job& job : jobs) {
    if (job.asked->gpus == 0) continue;
    const std::size_t owner = rows.of(job);
    stays.push_back(stay_of(job, owner, made.from, now));
    TenantView& row = rows.all()[owner];
    const bool waits = job.state == JobState::pending;
    if (waits || job.state == JobState::running) {
      ++(waits ? row.waiting : row.running);
      (waits ? row.gpus_waiting : row.gpus_held) += stays.back().gpus;
    }
  }
  std::vector<TenantView>& all = rows.all();
  std::vector<fairness::DecayedUse> uses(all.size(), fairness::DecayedUse(seconds(half_life)));
  for (const fairness::Stay& stay : stays) {
    if (!(stay.end_s > stay.start_s)) continue;
    uses[stay.owner].add(stay.gpus * stay.ran_s / (stay.end_s - stay.start_s), stay.start_s,
                         stay.end_s);
  }
  for (std::size_t row = 0; row < all.size(); ++row) {
    all[row].use_gpu_s = uses[row].at(seconds(now - made.from));
  }
  const std::vector<fairness::Claimant> claimants = rows.claimants();
  const fairness::Dues dues =
      fairness::judge(claimants, stays, seconds(now - made.from), cluster.gpus(), made.by_tenant);
  for (std::size_t row = 0; row < dues.owners.size(); ++row) {
    const fairness::Owner& owner = dues.owners[row];
    all[row].used_gpu_s = owner.used_gpu_s;
    all[row].fair_share_gpu_s = owner.fair_share_gpu_s;
    all[row].lent_gpu_s = owner.lent_gpu_s;
    all[row].borrowed_gpu_s = owner.borrowed_gpu_s;
    all[row].finish_time_ratio = owner.finish_ratio;
  }
  if (!dues.owners.empty()) {
    made.share_error = dues.share_error;
    made.jain = dues.jain;
    made.finish_time_ratio = dues.finish_ratio;
    made.unfair_jobs = dues.unfair_jobs;
    if (dues.owners[dues.worst].fair_share_gpu_s > 0) made.worst = dues.owners[dues.worst].name;
    made.worst_fair_share = dues.worst_part;
    for (const fairness::Loan& loan : dues.loans) {
      made.loans.push_back({all[loan.from].name, all[loan.to].name, loan.gpu_s});
    }
  }
  add_up(all, cluster);
  made.tenants = in_tree_order(std::move(all), cluster);
  if (!made.by_tenant) {
    std::stable_sort(made.tenants.begin(), made.tenants.end(),
                     [](const auto& a, const auto& b) { return a.used_gpu_s > b.used_gpu_s; });
  }
  return made;
}

Result<Tenancy> TenancyKeeper::get(const Make& make) const {
  constexpr Duration kGood = 5s;
  const std::lock_guard lock(mutex_);
  const auto now = clock_.monotonic();
  if (last_ && now < made_at_ + kGood) return *last_;
  auto made = make();
  if (!made) return made;
  last_ = std::move(*made);
  made_at_ = now;
  return *last_;
}

std::string beside_its_due(const Tenancy& tenancy, const std::string& name) {
  const auto found = std::find_if(tenancy.tenants.begin(), tenancy.tenants.end(),
                                  [&](const TenantView& each) { return each.name == name; });
  if (found == tenancy.tenants.end() || name.empty()) return "";
  const auto hours = [](double gpu_s) {
    return gpu_s < 36'000 ? fmt::format("{:.2g}", gpu_s / 3600)
                          : text::grouped(std::llround(gpu_s / 3600));
  };
  return fmt::format("{} {} {} in the last {} ({} of {} GPU-hours)",
                     tenancy.by_tenant ? "tenant" : "user", name,
                     fairness::beside_its_due({.used_gpu_s = found->used_gpu_s,
                                               .fair_share_gpu_s = found->fair_share_gpu_s}),
                     text::human_time(seconds(tenancy.to - tenancy.from)), hours(found->used_gpu_s),
                     hours(found->fair_share_gpu_s));
}

}  // namespace almanac::service
