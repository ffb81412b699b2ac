// SPDX-License-Identifier: Apache-2.0

/// \file
/// Places jobs of a group on the same GPUs, for allocator.h.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "policy/kit/allocator.h"
#include "policy/kit/gpu_memory.h"
#include "policy/kit/placer.h"

namespace almanac::policy {
namespace {

using Grants = std::vector<cluster::Grant>;

/// GPUs like those of `held`, `gpu_milli` of each, with the cores and memory of `demand`.
Grants like(std::span<const cluster::Grant> held, std::int32_t gpu_milli,
            const cluster::Demand& demand) {
  Grants made(held.begin(), held.end());
  for (cluster::Grant& grant : made) {
    const cluster::Amount amount = demand.of(grant.count());
    grant.gpu_milli = gpu_milli;
    grant.cpu_milli = amount.cpu_milli;
    grant.memory_mb = amount.memory_mb;
  }
  return made;
}

bool take_all(std::span<const cluster::Grant> grants, cluster::Ledger& ledger) {
  const std::size_t before = ledger.mark();
  for (const cluster::Grant& grant : grants) {
    if (ledger.can_take(grant)) {
      ledger.take(grant);
      continue;
    }
    ledger.undo(before);
    return false;
  }
  return true;
}

void give_all(std::span<const cluster::Grant> grants, cluster::Ledger& ledger) {
  for (const cluster::Grant& grant : grants) ledger.give_back(grant);
}

/// Whether a job holds what it requests, with one `of`-th of each GPU.
bool holds_part(JobId job, std::size_t of, const View& view) {
  const cluster::Demand& demand = view.demand(view.progress(job).demand);
  const std::int32_t part =
      of == 1 ? demand.gpu_milli : cluster::kWholeGpu / static_cast<std::int32_t>(of);
  const auto held = view.grants(job);
  return std::all_of(held.begin(), held.end(), [&](const cluster::Grant& grant) {
    const cluster::Amount amount = demand.of(grant.count());
    return grant.gpu_milli == part && grant.cpu_milli == amount.cpu_milli &&
           grant.memory_mb == amount.memory_mb;
  });
}

bool are_on_the_same(JobId one, JobId other, const View& view) {
  const auto held = view.grants(one);
  const auto beside = view.grants(other);
  return std::equal(held.begin(), held.end(), beside.begin(), beside.end(),
                    [](const cluster::Grant& a, const cluster::Grant& b) {
                      return a.node == b.node && a.gpus == b.gpus;
                    });
}

}  // namespace

bool Allocator::is_in_place(const Wish& wish, const View& view,
                            const cluster::Ledger& ledger) const {
  if (!stays({.job = wish.job, .gpu_types = wish.gpu_types}, view, ledger)) return false;
  const cluster::Demand& demand = asked(wish.job, view);
  const std::size_t size = 1 + wish.beside.size();
  if (size == 1) return demand.is_cpu_job() || holds_part(wish.job, size, view);
  std::vector<JobId> group = wish.beside;
  group.push_back(wish.job);
  const auto is_there = [&](JobId job) {
    return view.progress(job).phase == Phase::running && holds_part(job, size, view) &&
           are_on_the_same(wish.job, job, view);
  };
  return !demand.is_part() && !demand.is_cpu_job() &&
         std::all_of(group.begin(), group.end(), is_there) &&
         fits_gpu_memory(view.grants(wish.job), group, view, ledger);
}

void Allocator::meet_groups(VcId vc, const View& view, Plan& plan) {
  cluster::Ledger& ledger = plan.ledger;
  const auto runs = [&](JobId job) { return view.progress(job).phase == Phase::running; };
  // Groups that are in place stay there. Exception: a group that runs elsewhere and must change
  // goes first, and may take the cores next to them.
  std::vector<bool> is_met(wishes_.size());
  staying_.clear();
  for (std::size_t at = 0; at < wishes_.size(); ++at) {
    const Wish& wish = wishes_[at];
    is_met[at] = is_in_place(wish, view, ledger);
    if (is_met[at]) {
      staying_.add(wish.job);
      for (const JobId job : wish.beside) staying_.add(job);
    } else if (runs(wish.job) || std::any_of(wish.beside.begin(), wish.beside.end(), runs)) {
      std::fill(is_met.begin(), is_met.end(), false);
      staying_.clear();
      break;
    }
  }
  for (const JobId job : movable_) {
    if (runs(job) && !staying_.has(job)) give_all(view.grants(job), ledger);
  }
  std::map<JobId, Grants> placed;
  // Keeps `job` on its GPUs, without its neighbors.
  const auto stay = [&](JobId job, const Wish& wish) {
    if (!runs(job) || !stays({.job = job, .gpu_types = wish.gpu_types}, view, ledger)) return false;
    const cluster::Demand& demand = asked(job, view);
    const auto held = view.grants(job);
    Grants own = demand.is_cpu_job() ? Grants(held.begin(), held.end())
                                     : like(held, demand.gpu_milli, demand);
    if (!take_all(own, ledger)) return false;
    placed[job] = std::move(own);
    return true;
  };
  const auto has_quota = [&](JobId job) {
    if (plan.quotas == nullptr || runs(job)) return true;
    if (plan.quotas->has_room(plan.quotas->of(job))) return true;
    plan.wake(view.now);  // there was room as the decision began
    return false;
  };
  const auto put_beside = [&](std::vector<JobId>& group, JobId next) {
    const cluster::Demand& demand = asked(group.front(), view);
    if (demand.is_part() || demand.is_cpu_job() || !has_quota(next)) return;
    std::vector<JobId> joined = group;
    joined.push_back(next);
    const Grants& held = placed.at(group.front());
    if (!ledger.in_domains(held, asked(next, view).nvlink_gpus)) return;
    if (!fits_gpu_memory(held, joined, view, ledger)) return;
    const std::int32_t part = cluster::kWholeGpu / static_cast<std::int32_t>(joined.size());
    const std::size_t before = ledger.mark();
    for (const JobId job : group) give_all(placed.at(job), ledger);
    std::vector<Grants> parts;
    for (const JobId job : joined) {
      parts.push_back(like(held, part, asked(job, view)));
      if (!take_all(parts.back(), ledger)) return ledger.undo(before);
    }
    for (std::size_t at = 0; at < joined.size(); ++at) placed[joined[at]] = std::move(parts[at]);
    group = std::move(joined);
  };
  const auto set = [&](JobId job) {
    const auto held = view.grants(job);
    const Grants& own = placed.at(job);
    const bool is_as_before =
        runs(job) && std::equal(held.begin(), held.end(), own.begin(), own.end());
    if (!is_as_before) plan.set(job, {.grants = own});
  };
  for (const bool may_stay : {true, false}) {
    for (std::size_t at = 0; at < wishes_.size(); ++at) {
      if (is_met[at]) continue;
      const Wish& wish = wishes_[at];
      std::vector<JobId> named{wish.job};
      named.insert(named.end(), wish.beside.begin(), wish.beside.end());
      auto first = named.begin();
      if (may_stay) {
        first =
            std::find_if(named.begin(), named.end(), [&](JobId job) { return stay(job, wish); });
        if (first == named.end()) continue;
      } else {
        Grants made;
        const cluster::Demand demand = wanted(wish, view);
        const bool fits = has_quota(*first) && doubted_.avoid(ledger, made, [&] {
          return place_demand(*placement_, ledger, vc, demand, view.rng, made);
        });
        if (!fits) continue;
        placed[*first] = std::move(made);
      }
      is_met[at] = true;
      std::vector<JobId> group{*first};
      for (auto other = named.begin(); other != named.end(); ++other) {
        if (other != first) put_beside(group, *other);
      }
      for (const JobId job : group) set(job);
    }
  }
  for (const JobId job : movable_) {
    if (!runs(job) || staying_.has(job) || placed.contains(job)) continue;
    if (!rests(job) && stay(job, {.job = job})) {
      set(job);
    } else {
      stop(job, view, plan);
    }
  }
  for (const Wish& wish : wishes_) {
    const auto line_up = [&](JobId job) {
      if (!runs(job) && !placed.contains(job)) lines_[index(vc)].push_back(job);
    };
    line_up(wish.job);
    std::for_each(wish.beside.begin(), wish.beside.end(), line_up);
  }
}

}  // namespace almanac::policy
