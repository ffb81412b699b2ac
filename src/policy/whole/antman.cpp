// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs within their tenant's guarantee have GPUs of their own; all others are opportunistic and
/// run on free GPUs or beside them, in what they leave (Config::yields), so that a guaranteed job
/// is as fast as alone.
///
/// A job of a tenant is guaranteed where the GPUs of the guaranteed jobs of that tenant and its own
/// come to no more than the guarantee. It is placed as if no opportunistic job were there; these
/// run on beside it. Those of a tenant start in the order in which they came, none passes another.
/// An opportunistic job goes where GPUs are free, else to the node whose guaranteed jobs are
/// predicted to leave it most, `least_left` of its speed alone at least, and one to a GPU. It is
/// stopped only where its node lacks the cores or memory, and becomes guaranteed where it runs once
/// the guarantee has room and no guaranteed job is there.
///
/// Source   Xiao et al., OSDI'20 (AntMan), sections 4 and 5, and its scheduler plug-in.
/// Differs  Whether a job is guaranteed follows from its tenant's guarantee, instead of being told;
///          what a job leaves is predicted (perf/beside.h), where the plug-in takes GPUs used below
///          80 %. Opportunistic jobs may ask several GPUs, which lie on one node where they are
///          shared. A job that asks a part of a GPU shares it with none.
/// Cost     A step a decision for each job that runs, and for each opportunistic job that waits in
///          vain one for each GPU: it is for some thousand of these.
#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "policy/kit/gpu_memory.h"
#include "policy/kit/placer.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

using cluster::Grant;

class AntMan final : public Policy {
 public:
  AntMan(std::unique_ptr<Placement> placement, double least_left)
      : placement_(std::move(placement)), least_left_(least_left) {}

  void decide(std::span<const Event> events, const View& view, Plan& plan) override {
    vcs_.resize(view.cluster.vcs.size());
    for (const JobId job : std::exchange(stopped_, {})) queue(job, view);
    for (const Event& event : events) take_in(event, view);
    count_guaranteed(view);
    for (std::uint32_t vc = 0; vc < vcs_.size(); ++vc) serve(VcId{vc}, view, plan);
    if (!stopped_.empty()) plan.wake(view.now);
  }

  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override {
    const cluster::Demand& demand = asked(job, view);
    Reason reason{.kind = ReasonKind::short_of_gpus, .wanted = demand.gpus};
    for (const cluster::Pool& pool : ledger.pools(view.progress(job).vc)) {
      if (pool.suits(demand)) reason.available += pool.free_gpus;
    }
    if (reason.available >= demand.gpus) reason.kind = ReasonKind::fragmented;
    if (demand.is_cpu_job()) reason.kind = ReasonKind::short_of_cores;
    if (aside_.contains(job)) reason.kind = ReasonKind::at_quota;
    return reason;
  }

  void line_up(std::vector<JobId>& line) const override {
    for (const Vc& vc : vcs_) {
      std::copy_if(vc.waiting.begin(), vc.waiting.end(), std::back_inserter(line),
                   [&](JobId job) { return !aside_.contains(job); });
    }
  }

 private:
  /// What a job that runs is to hold.
  struct Held {
    std::vector<Grant> grants{};
    bool is_guest = false;
    bool is_part = false;   // it asks a part of a GPU, or none
    bool is_fixed = false;  // its nodes take nothing new, and it stays as it is

    bool may_share() const { return !is_part && !is_fixed; }
  };
  struct Vc {
    std::vector<JobId> waiting{};     // in order of coming
    std::map<JobId, Held> running{};  // in that order too
  };
  using Gpu = std::pair<NodeId, int>;

  static const cluster::Demand& asked(JobId job, const View& view) {
    return view.demand(view.progress(job).demand);
  }
  Vc& vc_of(JobId job, const View& view) { return vcs_[index(view.progress(job).vc)]; }

  void queue(JobId job, const View& view) {
    std::vector<JobId>& waiting = vc_of(job, view).waiting;
    waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), job), job);
  }

  void take_in(const Event& event, const View& view) {
    const JobId job{event.subject};
    switch (event.kind) {
      case EventKind::job_arrived:
        queue(job, view);
        placement_->expect(asked(job, view));
        break;
      case EventKind::job_adopted:
        vc_of(job, view).running[job].is_guest = view.config(job).yields;
        break;
      case EventKind::job_failed:
        vc_of(job, view).running.erase(job);
        queue(job, view);
        break;
      case EventKind::job_ended:
        vc_of(job, view).running.erase(job);
        break;
      case EventKind::job_withdrawn:
        std::erase(vc_of(job, view).waiting, job);
        break;
      default:
        break;  // what is free is looked at in each decision
    }
  }

  void count_guaranteed(const View& view) {
    guaranteed_.assign(view.cluster.tenants.size(), 0);
    for (const Vc& vc : vcs_) {
      for (const auto& [job, held] : vc.running) {
        if (!held.is_guest) guarantee(job, view);
      }
    }
  }
  static double gpus_of(JobId job, const View& view) {
    return asked(job, view).gpus * view.request(job).gpu_part();
  }
  void guarantee(JobId job, const View& view) {
    const TenantId tenant = view.progress(job).tenant;
    if (tenant != kNoTenant) guaranteed_[index(tenant)] += gpus_of(job, view);
  }
  /// Whether a job more is guaranteed. One without GPUs takes none of a guarantee.
  bool is_guaranteed(JobId job, const View& view) const {
    if (asked(job, view).is_cpu_job()) return true;
    const TenantId tenant = view.progress(job).tenant;
    return tenant != kNoTenant && guaranteed_[index(tenant)] + gpus_of(job, view) <=
                                      view.cluster.tenants[index(tenant)].guarantee;
  }

  bool may_start(JobId job, const View& view, const Plan& plan) {
    const bool has_quota = plan.quotas == nullptr || plan.quotas->has_room(asked(job, view).claim);
    has_quota ? aside_.erase(job) : aside_.insert(job).second;
    return has_quota && view.held_until(job) <= view.now;
  }

  void serve(VcId id, const View& view, Plan& plan) {
    Vc& vc = vcs_[index(id)];
    lift(vc, view, plan.ledger);
    for (auto& [job, held] : vc.running) {
      if (held.is_guest && !held.is_fixed && is_guaranteed(job, view) && take(held, plan.ledger)) {
        held.is_guest = false;
        guarantee(job, view);
      }
    }
    std::set<TenantId> in_line;  // tenants of which a job waits
    std::erase_if(vc.waiting, [&](JobId job) {
      if (!is_guaranteed(job, view) || !may_start(job, view, plan)) return false;
      const TenantId tenant = view.progress(job).tenant;
      const bool is_cpu_job = asked(job, view).is_cpu_job();
      if (!is_cpu_job && in_line.contains(tenant)) return false;
      if (start(id, job, /*as_guest=*/false, view, plan)) {
        guarantee(job, view);
        return true;
      }
      if (!is_cpu_job) in_line.insert(tenant);
      return false;
    });
    note_hosts(vc);
    for (auto at = vc.running.begin(); at != vc.running.end();) {
      const auto [job, held] = std::tie(at->first, at->second);
      if (!held.is_guest || held.is_fixed || lay(vc, job, held, view, plan.ledger)) {
        ++at;
        continue;
      }
      plan.set(job, {});
      stopped_.push_back(job);
      at = vc.running.erase(at);
    }
    std::set<std::pair<DemandId, const perf::SpeedModel*>> in_vain;
    std::erase_if(vc.waiting, [&](JobId job) {
      if (is_guaranteed(job, view) || !may_start(job, view, plan)) return false;
      const perf::SpeedModel* const model =
          view.speeds == nullptr ? nullptr : &view.speeds->model(job);
      const std::pair alike(view.progress(job).demand, model);
      if (in_vain.contains(alike)) return false;
      if (start(id, job, true, view, plan) || join(id, job, view, plan)) return true;
      in_vain.insert(alike);
      return false;
    });
    for (const auto& [job, held] : vc.running) settle(job, held, view, plan);
  }

  /// Takes all guests off the ledger, and lets the others have their GPUs whole.
  void lift(Vc& vc, const View& view, cluster::Ledger& ledger) {
    for (auto& [job, held] : vc.running) {
      const auto now = view.grants(job);
      held.grants.assign(now.begin(), now.end());
      held.is_part = asked(job, view).is_part() || asked(job, view).is_cpu_job();
      held.is_fixed = !std::all_of(now.begin(), now.end(),
                                   [&](const Grant& each) { return ledger.ready(each.node); });
      if (held.is_fixed) continue;
      for (const Grant& each : now) ledger.give_back(each);
      for (Grant& each : held.grants) each.gpu_milli = asked(job, view).gpu_milli;
    }
    for (auto& [job, held] : vc.running) {
      if (!held.is_guest && !held.is_fixed) take(held, ledger);
    }
  }

  static bool take(const Held& held, cluster::Ledger& ledger) {
    const std::size_t before = ledger.mark();
    for (const Grant& each : held.grants) {
      if (!ledger.can_take(each)) {
        ledger.undo(before);
        return false;
      }
      ledger.take(each);
    }
    return true;
  }

  bool start(VcId vc, JobId job, bool as_guest, const View& view, Plan& plan) {
    Held made{.is_guest = as_guest};
    const cluster::Demand& demand = asked(job, view);
    if (!place_demand(*placement_, plan.ledger, vc, demand, view.rng, made.grants)) return false;
    made.is_part = demand.is_part() || demand.is_cpu_job();
    note(job, made);
    plan.set(job, {.grants = made.grants, .config = {.yields = as_guest}});
    vcs_[index(vc)].running[job] = std::move(made);
    return true;
  }

  template <typename Visit>
  static void each_gpu(std::span<const Grant> grants, Visit&& visit) {
    for (const Grant& grant : grants) {
      for (cluster::GpuMask rest = grant.gpus; rest != 0; rest &= rest - 1) {
        visit(Gpu{grant.node, std::countr_zero(rest)});
      }
    }
  }
  void note(JobId job, const Held& held) {
    each_gpu(held.grants, [&](const Gpu& gpu) { (held.is_guest ? guests_ : hosts_)[gpu] = job; });
  }
  void note_hosts(const Vc& vc) {
    hosts_.clear();
    guests_.clear();
    for (const auto& [job, held] : vc.running) note(job, held);
  }

  /// Lets a guest hold its GPUs, half of each that is another's; false = changed nothing.
  bool lay(Vc& vc, JobId job, Held& guest, const View& view, cluster::Ledger& ledger) {
    std::set<JobId> hosts;
    each_gpu(guest.grants, [&](const Gpu& gpu) {
      if (const auto found = hosts_.find(gpu); found != hosts_.end()) hosts.insert(found->second);
    });
    if (hosts.empty() || guest.is_part) return take(guest, ledger);
    const std::size_t before = ledger.mark();
    std::vector<std::pair<Held*, std::vector<Grant>>> as_they_were;
    bool fits = true;
    for (const JobId host : hosts) {
      Held& held = vc.running.at(host);
      fits = fits && held.may_share() &&
             fits_gpu_memory(guest.grants, std::array{host, job}, view, ledger);
      if (!fits) break;
      as_they_were.emplace_back(&held, held.grants);
      for (Grant& each : held.grants) {
        ledger.give_back(each);
        each.gpu_milli = kHalf;
        ledger.take(each);
      }
    }
    for (Grant& each : guest.grants) each.gpu_milli = kHalf;
    if (fits && take(guest, ledger)) return true;
    ledger.undo(before);
    for (auto& [held, grants] : as_they_were) held->grants = std::move(grants);
    return false;
  }

  /// Starts a guest beside others, on the node that leaves it most.
  bool join(VcId id, JobId job, const View& view, Plan& plan) {
    cluster::Ledger& ledger = plan.ledger;
    const cluster::Demand& demand = asked(job, view);
    if (view.speeds == nullptr || demand.is_part() || demand.is_cpu_job()) return false;
    Vc& vc = vcs_[index(id)];
    double most = 0;
    Held best{.is_guest = true};
    for (const cluster::Pool& pool : ledger.pools(id)) {
      if (!pool.suits(demand) || pool.gpus_per_node < demand.gpus) continue;
      std::map<const perf::SpeedModel*, double> known;
      for (const NodeId node : pool.nodes) {
        std::vector<std::pair<double, int>> gpus;  // what is left, negative for the order
        for (int gpu = 0; gpu < pool.gpus_per_node; ++gpu) {
          const double left = left_on({node, gpu}, job, vc, known, view, ledger);
          if (left >= least_left_) gpus.emplace_back(-left, gpu);
        }
        if (static_cast<int>(gpus.size()) < demand.gpus) continue;
        std::sort(gpus.begin(), gpus.end());
        gpus.resize(static_cast<std::size_t>(demand.gpus));
        if (-gpus.back().first <= most || !has_beside(node, demand, ledger)) continue;
        most = -gpus.back().first;
        const cluster::Amount amount = demand.of(demand.gpus);
        best.grants = {
            {.node = node, .cpu_milli = amount.cpu_milli, .memory_mb = amount.memory_mb}};
        for (const auto& [left, gpu] : gpus) best.grants[0].gpus |= cluster::GpuMask{1} << gpu;
      }
    }
    if (most <= 0 || !lay(vc, job, best, view, ledger)) return false;
    note(job, best);
    plan.set(job, {.grants = best.grants, .config = {.yields = true}});
    vc.running[job] = std::move(best);
    return true;
  }

  /// The part of its speed alone that a guest would have on a GPU; 0 = it may not run there.
  double left_on(const Gpu& gpu, JobId guest, const Vc& vc,
                 std::map<const perf::SpeedModel*, double>& known, const View& view,
                 const cluster::Ledger& ledger) const {
    if (guests_.contains(gpu)) return 0;
    if ((ledger.free_mask(gpu.first) >> gpu.second & 1) != 0) return 1;
    const auto found = hosts_.find(gpu);
    if (found == hosts_.end() || !vc.running.at(found->second).may_share()) return 0;
    const JobId host = found->second;
    const Grant here{.node = gpu.first, .gpus = cluster::GpuMask{1} << gpu.second};
    if (!fits_gpu_memory({&here, 1}, std::array{host, guest}, view, ledger)) return 0;
    const auto [at, is_new] = known.try_emplace(&view.speeds->model(host), 0);
    if (is_new) {
      const cluster::Amount amount = asked(guest, view).of(1);
      const Grant one{.node = gpu.first,
                      .gpus = cluster::GpuMask{1} << gpu.second,
                      .cpu_milli = amount.cpu_milli,
                      .memory_mb = amount.memory_mb};
      at->second = view.speeds->pace(guest, {&one, 1}, {&host, 1}, 0, true).rate /
                   view.speeds->rate(guest, {&one, 1});
    }
    return at->second;
  }

  /// Whether a node has the cores and memory.
  static bool has_beside(NodeId node, const cluster::Demand& demand,
                         const cluster::Ledger& ledger) {
    const cluster::Amount amount = demand.of(demand.gpus);
    return ledger.can_take(
        {.node = node, .cpu_milli = amount.cpu_milli, .memory_mb = amount.memory_mb});
  }

  static void settle(JobId job, const Held& held, const View& view, Plan& plan) {
    const Config config{.yields = held.is_guest};
    const Plan::Change* const change = plan.find(job);
    const auto now = change == nullptr ? view.grants(job) : plan.grants(*change);
    const bool stays = std::equal(now.begin(), now.end(), held.grants.begin(), held.grants.end());
    if (stays && (change == nullptr ? view.config(job) : change->config) == config) return;
    plan.set(job, {.grants = held.grants, .config = config});
  }

  static constexpr std::int32_t kHalf = cluster::kWholeGpu / 2;

  std::unique_ptr<Placement> placement_;
  double least_left_;
  std::vector<Vc> vcs_;             // by VcId
  std::vector<double> guaranteed_;  // GPUs of guaranteed jobs, by tenant
  std::map<Gpu, JobId> hosts_;      // of the virtual cluster that is looked at
  std::map<Gpu, JobId> guests_;     // likewise
  std::vector<JobId> stopped_;      // by the plan in the making
  std::set<JobId> aside_;           // those for which no quota has room
};

}  // namespace

void register_antman(Registry& registry) {
  registry.wholes.add(
      {.name = "antman",
       .summary = "jobs beyond their tenant's guarantee run in what guaranteed ones leave of GPUs",
       .source = "Xiao et al. OSDI'20 (AntMan)",
       .traits = {.has = {Trait::reads_tenants, Trait::reads_speeds, Trait::shares_gpus,
                          Trait::stops_jobs, Trait::yields_gpus}},
       .parameters = {number("least_left",
                             "of its speed alone that an opportunistic job must be left", 0.2, 0.01,
                             1)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<AntMan>(
            almanac::policy::registry().placements.make(composition.placement, host),
            told.number("least_left"));
      });
}

}  // namespace almanac::policy::whole
