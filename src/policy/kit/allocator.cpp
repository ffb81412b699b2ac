// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/allocator.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "policy/contract/may_stop.h"
#include "policy/kit/placer.h"
#include "trace/sizes.h"

namespace almanac::policy {
namespace {

/// The bit of the GPUs of a class of nodes among Cluster::gpu_kinds(), without making these: it is
/// asked for each job of each deal.
std::uint64_t bit_of(std::size_t node_class, const cluster::Cluster& cluster) {
  const auto first = cluster.classes.begin();
  const auto first_alike = [&](auto own) {
    return std::find_if(first, own, [&](const cluster::NodeClass& other) {
      return cluster::Cluster::kind_of(other) == cluster::Cluster::kind_of(*own);
    });
  };
  const auto own = first_alike(first + static_cast<std::ptrdiff_t>(node_class));
  std::uint64_t bit = 1;
  for (auto other = first; other != own; ++other) {
    if (first_alike(other) == other) bit <<= 1;
  }
  return bit;
}

}  // namespace

void Allocator::decide(std::span<const Event> events, const View& view, Plan& plan) {
  if (vcs_.size() < view.cluster.vcs.size()) {
    vcs_.resize(view.cluster.vcs.size());
    lines_.resize(vcs_.size());
  }
  for (const JobId job : std::exchange(stopped_, {})) {
    lines_[index(view.progress(job).vc)].push_back(job);
  }
  doubted_.hear(events, view);
  take_in(events, view);
  end_jobs(view, plan);
  // What one virtual cluster lets go of a quota another may have.
  if (plan.quotas != nullptr) {
    for (Vc& vc : vcs_) vc.touched = vc.touched || !vc.jobs.empty();
  }
  for (std::uint32_t at = 0; at < vcs_.size(); ++at) {
    Vc& vc = vcs_[at];
    const bool stands = std::exchange(vc.stands, false);
    if (std::exchange(vc.touched, false)) {
      settle(VcId{at}, view, plan);
    } else if (stands) {
      passed_by(VcId{at}, view, plan);
    }
  }
  const std::vector<JobId> aside = std::exchange(aside_, {});
  leave_aside(plan);
  // What this plan has freed of a quota a job may have that was left aside until now.
  const bool has_more_room = std::any_of(aside.begin(), aside.end(), [&](JobId job) {
    return view.progress(job).phase == Phase::waiting && plan.find(job) == nullptr &&
           !is_aside(job);
  });
  if (has_more_room) plan.wake(view.now);
}

void Allocator::leave_aside(const Plan& plan) {
  if (plan.quotas == nullptr) return;
  for (const std::vector<JobId>& line : lines_) {
    std::copy_if(line.begin(), line.end(), std::back_inserter(aside_),
                 [&](JobId job) { return !plan.quotas->has_room(plan.quotas->of(job)); });
  }
  std::sort(aside_.begin(), aside_.end());
}

bool Allocator::is_aside(JobId job) const {
  return std::binary_search(aside_.begin(), aside_.end(), job);
}

void Allocator::take_in(std::span<const Event> events, const View& view) {
  for (const Event& event : events) {
    const JobId job{event.subject};
    switch (event.kind) {
      case EventKind::job_arrived:
      case EventKind::job_adopted: {
        Vc& vc = vcs_[index(view.progress(job).vc)];
        const auto came_later = [&](JobId a, JobId b) {
          return view.request(a).submit < view.request(b).submit;
        };
        vc.jobs.insert(std::upper_bound(vc.jobs.begin(), vc.jobs.end(), job, came_later), job);
        vc.touched = true;
        beliefs_.believe(job, view);
        if (event.kind == EventKind::job_adopted) types_.began(job, type_held(job, view), view);
        placement_->expect(asked(job, view));
        break;
      }
      case EventKind::job_ended:
      case EventKind::job_withdrawn: {
        Vc& vc = vcs_[index(view.progress(job).vc)];
        std::erase(vc.jobs, job);
        vc.touched = true;
        if (event.kind == EventKind::job_ended) beliefs_.learn(job, view);
        types_.gone(job, view);
        left(job, view);
        break;
      }
      case EventKind::job_reported:
        reported(job, event.value, view);
        vcs_[index(view.progress(job).vc)].touched = true;
        break;
      case EventKind::job_failed:
        types_.left(job, view);
        left(job, view);
        [[fallthrough]];
      case EventKind::job_released:
        vcs_[index(view.progress(job).vc)].touched = true;
        break;
      case EventKind::capacity_changed:
        vcs_[event.subject].touched = true;
        break;
      case EventKind::node_down:
      case EventKind::node_up:
      case EventKind::node_notice:
        vcs_[index(view.cluster.nodes[event.subject].vc)].touched = true;
        break;
      case EventKind::signal_changed:
        signalled(event, view);
        for (Vc& vc : vcs_) vc.touched = vc.touched || !vc.jobs.empty();
        break;
      case EventKind::timer:
        for (Vc& vc : vcs_) {
          if (!vc.jobs.empty()) (vc.due <= view.now ? vc.touched : vc.stands) = true;
        }
        break;
    }
  }
}

void Allocator::end_jobs(const View& view, Plan& plan) {
  for (const JobId job : std::exchange(over_, {})) {
    const Phase phase = view.progress(job).phase;
    if (phase != Phase::running && phase != Phase::waiting) continue;  // it has left by itself
    if (phase == Phase::running) {
      for (const cluster::Grant& grant : view.grants(job)) plan.ledger.give_back(grant);
    }
    plan.end(job);
    Vc& vc = vcs_[index(view.progress(job).vc)];
    std::erase(vc.jobs, job);
    vc.touched = true;
  }
}

cluster::Demand Allocator::wanted(const Wish& wish, const View& view) {
  cluster::Demand demand = asked(wish.job, view);
  if (wish.gpus > 0) demand.gpus = wish.gpus;
  demand.gpu_types &= wish.gpu_types;
  return demand;
}

void Allocator::settle(VcId vc, const View& view, Plan& plan) {
  const std::vector<JobId>& jobs = vcs_[index(vc)].jobs;
  const Quotas* const lent = lent_quotas(plan);
  const std::size_t changes = plan.changes().size();
  const std::size_t wakes = plan.wakes.size();
  const bool all_can_move = all_ready(vc, plan.ledger);
  movable_.clear();
  for (const JobId job : jobs) {
    const bool waits = view.progress(job).phase == Phase::waiting;
    const auto may_start = [&] {
      return view.held_until(job) <= view.now && (plan.quotas == nullptr || lent != nullptr ||
                                                  plan.quotas->has_room(plan.quotas->of(job)));
    };
    const auto may_give_way = [&] {
      return may_stop(view.request(job), Stops::all) &&
             (all_can_move || can_move(job, view, plan.ledger));
    };
    if (waits ? may_start() : may_give_way()) movable_.push_back(job);
  }
  wishes_.clear();
  allocate(vc, movable_, view, plan, wishes_);
  for (Wish& wish : wishes_) {
    if (!names_domains(wish, view, plan.ledger)) wish.on = {};  // the placement chooses
  }
  std::vector<JobId>& line = lines_[index(vc)];
  line.clear();
  groups_jobs() ? meet_groups(vc, view, plan) : meet(vc, view, plan);
  // Jobs that are not to run now stand behind those that are.
  const std::size_t named = line.size();
  in_line_.clear();
  for (const JobId job : line) in_line_.add(job);
  for (const JobId job : jobs) {
    if (view.progress(job).phase != Phase::waiting || in_line_.has(job)) continue;
    if (plan.find(job) == nullptr) line.push_back(job);
  }
  order_rest(vc, std::span(line).subspan(named));
  if (types_.learns()) note_types(jobs, view, plan);
  settled(vc, view, plan);
  vcs_[index(vc)].due = due(vc, changes, wakes, view, plan);
}

Time Allocator::due(VcId vc, std::size_t changes, std::size_t wakes, const View& view,
                    const Plan& plan) const {
  // A plan that changes something is looked at again: a job that stops may be named as it waits.
  const bool is_settled = plan.changes().size() == changes && over_.empty();
  if (!is_settled || placement_->draws()) return Time::min();
  Time first = stands_until(vc, view);
  for (std::size_t at = wakes; at < plan.wakes.size(); ++at) {
    first = std::min(first, plan.wakes[at]);
  }
  return first;
}

bool Allocator::all_ready(VcId vc, const cluster::Ledger& ledger) {
  const auto pools = ledger.pools(vc);
  return std::all_of(pools.begin(), pools.end(), [](const cluster::Pool& pool) {
    const auto gpus = pool.nodes.size() * static_cast<std::size_t>(pool.gpus_per_node);
    return gpus > 0 && static_cast<std::size_t>(pool.capacity) == gpus;
  });
}

void Allocator::stop(JobId job, const View& view, Plan& plan) {
  plan.set(job, {});
  stopped_.push_back(job);
  left(job, view);
}

Quotas* Allocator::lent_quotas(const Plan& plan) const {
  return keeps_quotas() ? plan.quotas : nullptr;
}

void Allocator::meet(VcId vc, const View& view, Plan& plan) {
  Quotas* const lent = lent_quotas(plan);
  staying_.clear();
  for (const Wish& wish : wishes_) {
    if (!stays(wish, view, plan.ledger)) continue;
    staying_.add(wish.job);
    if (view.config(wish.job) == wish.config) continue;
    plan.set(wish.job, {.grants = view.grants(wish.job), .config = wish.config});
  }
  homeless_.clear();
  for (const JobId job : movable_) {
    if (view.progress(job).phase != Phase::running || staying_.has(job)) continue;
    for (const cluster::Grant& grant : view.grants(job)) plan.ledger.give_back(grant);
    homeless_.push_back(job);
  }
  std::vector<JobId> unnamed;  // homeless, whose quotas are lent to those that are named
  if (lent != nullptr) {
    for (const JobId job : homeless_) {
      const auto is_its = [&](const Wish& wish) { return wish.job == job; };
      if (std::any_of(wishes_.begin(), wishes_.end(), is_its)) continue;
      unnamed.push_back(job);
      lent->give_back(lent->of(job));
    }
    std::erase_if(wishes_, [&](const Wish& wish) {
      return view.progress(wish.job).phase == Phase::waiting && !lent->has_room(lent->of(wish.job));
    });
  }
  std::vector<JobId>& line = lines_[index(vc)];
  for (const Wish& wish : wishes_) {
    if (staying_.has(wish.job)) continue;
    const bool placed = place(vc, wish, view, plan);
    if (!placed && view.progress(wish.job).phase == Phase::waiting) line.push_back(wish.job);
  }
  for (const JobId job : homeless_) {
    if (plan.find(job) != nullptr) continue;  // it is placed again
    bool has_room = true;
    if (std::find(unnamed.begin(), unnamed.end(), job) != unnamed.end()) {
      has_room = lent->has_room(lent->of(job));
      lent->adopt(lent->of(job));  // until the plan says what becomes of it
    }
    if (has_room && !rests(job) && go_on(job, view, plan)) continue;
    stop(job, view, plan);
  }
}

void Allocator::by_deadline(std::span<JobId> jobs, const View& view) {
  std::stable_sort(jobs.begin(), jobs.end(), [&](JobId a, JobId b) {
    const Time one = view.request(a).deadline;
    const Time other = view.request(b).deadline;
    return one != kNoTime && (other == kNoTime || one < other);
  });
}

void Allocator::order_as(std::span<const JobId> line, std::span<JobId> waiting) const {
  unordered_.clear();
  for (const JobId job : waiting) unordered_.add(job);
  std::vector<JobId> ordered;
  ordered.reserve(waiting.size());
  const auto take = [&](JobId job) {
    if (unordered_.remove(job)) ordered.push_back(job);
  };
  std::for_each(line.begin(), line.end(), take);
  std::for_each(waiting.begin(), waiting.end(), take);
  std::copy(ordered.begin(), ordered.end(), waiting.begin());
}

bool Allocator::stays(const Wish& wish, const View& view, const cluster::Ledger& ledger) const {
  const Progress& state = view.progress(wish.job);
  if (state.phase != Phase::running) return false;
  const cluster::Demand& demand = view.demand(state.demand);
  const int gpus = wish.gpus > 0 ? wish.gpus : int{demand.gpus};
  const std::uint64_t types = demand.gpu_types & wish.gpu_types;
  const auto grants = view.grants(wish.job);
  const bool on_any = wish.on.empty() || is_safer(grants, wish);
  int held = 0;
  for (const cluster::Grant& grant : grants) {
    held += grant.count();
    const cluster::Pool& pool = ledger.pool(grant.node);
    if ((pool.gpu_type & types) == 0 || (gpus > 0 && pool.gpus_per_node == 0)) return false;
    const bool is_wished =
        on_any || std::any_of(wish.on.begin(), wish.on.end(), [&](const NodeGpus& at) {
          return at.node == grant.node && at.gpus == grant.count();
        });
    if (!is_wished) return false;
  }
  return held == gpus;
}

bool Allocator::is_safer(std::span<const cluster::Grant> held, const Wish& wish) const {
  return !doubted_.empty() && held.size() <= wish.on.size() && !doubted_.has_any(held) &&
         std::any_of(wish.on.begin(), wish.on.end(),
                     [&](const NodeGpus& at) { return doubted_.has(at.node); });
}

bool Allocator::will_run(JobId job, const View& view, const Plan& plan) {
  const Plan::Change* const change = plan.find(job);
  if (change != nullptr) return change->num_grants > 0;
  return view.progress(job).phase == Phase::running;
}

bool Allocator::place(VcId vc, const Wish& wish, const View& view, Plan& plan) {
  cluster::Demand demand = wanted(wish, view);
  if (plan.quotas != nullptr && !cut_to_quotas(wish.job, demand, view, plan)) return false;
  const bool is_cut = wish.gpus > 0 && demand.gpus < wish.gpus;
  if (!is_cut && place_demanded(vc, wish, demand, view, plan)) return true;
  const Wish anywhere{.job = wish.job, .config = wish.config};
  const int least = wish.least > 0 ? wish.least : demand.gpus;
  const int step = trace::size_step(view.request(wish.job));
  demand.gpus -= is_cut ? 0 : step;
  for (; demand.gpus >= std::max(1, least); demand.gpus -= step) {
    if (place_demanded(vc, anywhere, demand, view, plan)) return true;
  }
  return false;
}

bool Allocator::place_demanded(VcId vc, const Wish& wish, const cluster::Demand& demand,
                               const View& view, Plan& plan) {
  grants_.clear();
  const bool fits = doubted_.avoid(plan.ledger, grants_, [&] {
    return take_named(wish, demand, plan.ledger, grants_) ||
           place_demand(*placement_, plan.ledger, vc, demand, view.rng, grants_);
  });
  if (!fits) return false;
  plan.set(wish.job, {.grants = grants_, .config = wish.config});
  return true;
}

bool Allocator::names_domains(const Wish& wish, const View& view, const cluster::Ledger& ledger) {
  const int linked = asked(wish.job, view).nvlink_gpus;
  if (linked == 0 || wish.on.empty()) return true;
  std::vector<cluster::Grant> named;
  for (const NodeGpus& each : wish.on) {
    if (each.gpus == 0) continue;
    named.push_back({.node = each.node, .gpus = ~cluster::GpuMask{0} >> (64 - each.gpus)});
  }
  return ledger.in_domains(named, linked);
}

bool Allocator::take_named(const Wish& wish, const cluster::Demand& demand, cluster::Ledger& ledger,
                           std::vector<cluster::Grant>& grants) {
  if (wish.on.empty()) return false;
  const std::size_t before = ledger.mark();
  for (const NodeGpus& each : wish.on) {
    cluster::GpuMask free = ledger.free_mask(each.node);
    if (ledger.units(each.node, demand) < each.gpus || std::popcount(free) < each.gpus) {
      ledger.undo(before);
      grants.clear();
      return false;
    }
    cluster::GpuMask taken = 0;
    for (int gpu = 0; gpu < each.gpus; ++gpu, free &= free - 1) taken |= free & -free;
    const cluster::Amount amount = demand.of(each.gpus);
    grants.push_back({.node = each.node,
                      .gpus = taken,
                      .cpu_milli = amount.cpu_milli,
                      .memory_mb = amount.memory_mb});
    ledger.take(grants.back());
  }
  return true;
}

bool Allocator::can_move(JobId job, const View& view, const cluster::Ledger& ledger) {
  const auto held = view.grants(job);
  return std::all_of(held.begin(), held.end(), [&](const cluster::Grant& grant) {
    return !ledger.drained(grant.node) && ledger.power(grant.node) == cluster::Power::on;
  });
}

bool Allocator::go_on(JobId job, const View& view, Plan& plan) {
  const auto held = view.grants(job);
  const bool free = std::all_of(held.begin(), held.end(), [&](const cluster::Grant& grant) {
    return plan.ledger.can_take(grant);
  });
  if (!free) return false;
  for (const cluster::Grant& grant : held) plan.ledger.take(grant);
  return true;
}

std::vector<Stock> Allocator::stock(VcId vc, const cluster::Ledger& ledger) {
  std::vector<Stock> made;
  for (const cluster::Pool& pool : ledger.pools(vc)) {
    if (pool.gpus_per_node == 0) continue;
    auto known = std::find_if(made.begin(), made.end(),
                              [&](const Stock& each) { return each.gpu_type == pool.gpu_type; });
    if (known == made.end()) known = made.insert(known, {.gpu_type = pool.gpu_type});
    known->milli += std::int64_t{pool.capacity} * cluster::kWholeGpu;
  }
  return made;
}

bool Allocator::is_in(const std::vector<Stock>& stock, const cluster::Demand& demand) {
  const std::int64_t milli = std::int64_t{demand.gpus} * demand.gpu_milli;
  return demand.is_cpu_job() || std::any_of(stock.begin(), stock.end(), [&](const Stock& each) {
           return (each.gpu_type & demand.gpu_types) != 0 && each.milli >= milli;
         });
}

bool Allocator::take(std::vector<Stock>& stock, std::int64_t milli, std::uint64_t types) {
  Stock* best = nullptr;
  for (Stock& each : stock) {
    if ((each.gpu_type & types) == 0 || each.milli < milli) continue;
    if (best == nullptr || each.milli > best->milli) best = &each;
  }
  if (best == nullptr) return false;
  best->milli -= milli;
  return true;
}

bool Allocator::take(std::vector<Stock>& stock, const cluster::Demand& demand) {
  return take(stock, std::int64_t{demand.gpus} * demand.gpu_milli, demand.gpu_types);
}

bool Allocator::take(std::vector<Stock>& stock, JobId job, const View& view) {
  const cluster::Demand& demand = asked(job, view);
  if (demand.is_cpu_job()) return true;
  const std::uint64_t held = type_held(job, view);
  return take(stock, std::int64_t{demand.gpus} * demand.gpu_milli,
              held != 0 ? held : demand.gpu_types);
}

void Allocator::note_types(std::span<const JobId> jobs, const View& view, const Plan& plan) {
  for (const JobId job : jobs) {
    const Plan::Change* const change = plan.find(job);
    if (change == nullptr || change->action == Plan::Action::none ||
        change->action == Plan::Action::resize) {
      continue;
    }
    if (view.progress(job).phase == Phase::running) types_.left(job, view);
    types_.began(job, type_of(plan.grants(*change), view), view);
  }
}

std::uint64_t Allocator::type_held(JobId job, const View& view) {
  if (view.progress(job).phase != Phase::running) return 0;
  return type_of(view.grants(job), view);
}

std::uint64_t Allocator::type_of(std::span<const cluster::Grant> grants, const View& view) {
  for (const cluster::Grant& grant : grants) {
    if (grant.gpus == 0) continue;
    return bit_of(view.cluster.nodes[index(grant.node)].node_class, view.cluster);
  }
  return 0;
}

bool Allocator::cut_to_quotas(JobId job, cluster::Demand& demand, const View& view, Plan& plan) {
  Quotas& quotas = *plan.quotas;
  const bool waits = view.progress(job).phase == Phase::waiting;
  const int least = std::min(demand.gpus, asked(job, view).gpus);
  const int step = trace::size_step(view.request(job));
  for (; demand.gpus >= least; demand.gpus -= step) {
    const ClaimId claim = quotas.sized(demand.claim, demand.gpus);
    if (waits ? quotas.has_room(claim) : quotas.may_change(job, claim)) return true;
    if (demand.is_cpu_job()) break;
  }
  // There was room as the decision began: others may have what was meant for it.
  if (waits) plan.wake(view.now);
  return false;
}

double Allocator::rate_on_type(JobId job, std::uint64_t type, VcId vc, const View& view,
                               const cluster::Ledger& ledger, int gpus) const {
  if (view.speeds != nullptr) {
    const double profiled =
        rate_on(job, gpus > 0 ? gpus : int{asked(job, view).gpus}, type, vc, view, ledger);
    return view.speeds->tells_types(job) ? profiled : profiled * types_.speed(job, type, view);
  }
  return types_.speed(job, type, view);
}

std::vector<double> Allocator::rates_on(const std::vector<Stock>& stock, JobId job, VcId vc,
                                        const View& view, const cluster::Ledger& ledger) const {
  std::vector<double> rates;
  for (const Stock& each : stock) {
    const bool accepts = (each.gpu_type & asked(job, view).gpu_types) != 0;
    rates.push_back(accepts ? rate_on_type(job, each.gpu_type, vc, view, ledger) : 0);
  }
  return rates;
}

Reason Allocator::why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const {
  const cluster::Demand& demand = asked(job, view);
  if (is_aside(job)) return {.kind = ReasonKind::at_quota, .wanted = demand.gpus};
  if (rests_for() != ReasonKind::passed_over && rests(job)) {
    return {.kind = rests_for(), .wanted = demand.gpus};
  }
  Reason reason{.kind = ReasonKind::short_of_gpus, .wanted = demand.gpus};
  const VcId vc = view.progress(job).vc;
  for (const cluster::Pool& pool : ledger.pools(vc)) {
    if (pool.suits(demand)) reason.available += pool.free_gpus;
  }
  const std::size_t before = ledger.mark();
  std::vector<cluster::Grant> grants;
  const bool fits = place_demand(*placement_, ledger, vc, demand, view.rng, grants);
  ledger.undo(before);
  if (!fits) {
    if (reason.available >= demand.gpus) reason.kind = ReasonKind::fragmented;
    return reason;
  }
  if (waits_for_deal(job, view)) return {.kind = ReasonKind::next_lease, .wanted = demand.gpus};
  const std::vector<JobId>& line = lines_[index(vc)];
  reason.kind = ReasonKind::passed_over;
  if (!line.empty() && line.front() != job) {
    reason.kind = ReasonKind::behind;
    reason.other = line.front();
  }
  return reason;
}

void Allocator::line_up(std::vector<JobId>& line) const {
  for (const std::vector<JobId>& each : lines_) {
    std::copy_if(each.begin(), each.end(), std::back_inserter(line),
                 [&](JobId job) { return !is_aside(job); });
  }
}

}  // namespace almanac::policy
