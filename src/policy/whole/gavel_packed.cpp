// SPDX-License-Identifier: Apache-2.0

/// \file
/// Max-min fairness over types of GPUs where two jobs may run on the same ones: time is divided by
/// a program among jobs alone and pairs of them, and handed out in leases.
///
/// Jobs that ask as many GPUs, of the same types and memory and of one model and batch, are a kind:
/// the program gives time to kinds and to pairs of kinds (timeshare/packed.h). At the end of a
/// lease each has so many places as make up for what it was due until then and will be in the next
/// lease, the one most behind first; a place of a kind goes to the job that has run least, in whole
/// leases. What is then free goes to the others, alone. Within a lease what becomes free is handed
/// out likewise, and no job is stopped; nor is one at its end that has gained less than a lease
/// over what a stop costs.
///
/// How fast jobs are beside each other is predicted (View::speeds); without that none are paired,
/// nor are two that together ask more memory of a GPU than it has.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), sections 4.2 and 5, and its program.
/// Differs  The published rounds rank each pair of jobs, of which there are 500,000 of a thousand
///          jobs. Which jobs of a kind share is by what they have had, not by the program.
/// Cost     a program of n^2 / 2 columns a type with n kinds of as many GPUs, where jobs have come
///          or gone, at most once in `reset_s`; else a step for each pair of kinds that has time.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/kit/allocator.h"
#include "policy/kit/gpu_memory.h"
#include "policy/registry.h"
#include "timeshare/packed.h"

namespace almanac::policy::whole {
namespace {

class GavelPacked final : public Allocator {
 public:
  GavelPacked(std::unique_ptr<Placement> placement, Host host, Duration lease, Duration reset)
      : Allocator(std::move(placement), std::move(host.estimator), std::move(host.type_speeds)),
        may_share_(std::move(host.may_share)),
        lease_(lease),
        reset_(reset) {}

 private:
  /// GPUs, types that will do, model and batch by number, memory of each GPU in MB.
  using Kind = std::tuple<int, std::uint64_t, std::size_t, std::int32_t>;
  struct Unit {
    Kind one{};
    Kind other{};  // the same as `one` of a pair of two alike; see is_pair
    bool is_pair = false;
    std::uint64_t type = 0;

    auto operator<=>(const Unit&) const = default;
  };
  struct Share {
    double due = 0;  // places at a time
    double had_s = 0;
  };
  struct Vc {
    std::map<Unit, Share> times;
    std::vector<std::pair<JobId, JobId>> run;  // as last wished
    std::vector<JobId> jobs;                   // at the last decision
    Time divided = kNoTime;
    Time counted{};
    Time lease_ends{};
  };

  bool groups_jobs() const override { return true; }

  Kind kind_of(JobId job, const View& view) {
    const cluster::Demand& demand = asked(job, view);
    const perf::SpeedModel* const model =
        view.speeds == nullptr ? nullptr : &view.speeds->model(job);
    return {demand.gpus, demand.gpu_types, models_.try_emplace(model, models_.size()).first->second,
            gpu_memory_mb(std::array{job}, view)};
  }

  void allocate(VcId id, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    Vc& vc = vcs_[id];
    count(vc, view);
    const bool changed = !std::equal(jobs.begin(), jobs.end(), vc.jobs.begin(), vc.jobs.end());
    vc.jobs.assign(jobs.begin(), jobs.end());
    if (vc.divided == kNoTime || (changed && view.now - vc.divided >= reset_)) {
      divide(id, vc, view, plan.ledger);
    }
    const bool lease_goes_on = view.now < vc.lease_ends;
    if (!lease_goes_on) vc.lease_ends = view.now + lease_;
    std::vector<Stock> left = stock(id, plan.ledger);
    std::set<JobId> named;
    const auto wish = [&](JobId job, JobId beside, std::uint64_t type) {
      named.insert(job);
      if (beside != kNoJob) named.insert(beside);
      wishes.push_back({.job = job, .gpu_types = type});
      if (beside != kNoJob) wishes.back().beside.push_back(beside);
    };
    const auto runs = [&](JobId job) {
      return std::binary_search(vc.jobs.begin(), vc.jobs.end(), job) &&
             view.progress(job).phase == Phase::running;
    };
    for (const auto& [job, beside] : vc.run) {
      const auto stays = [&](JobId each) {
        return runs(each) && (lease_goes_on || !has_gained(each, lease_, view));
      };
      if (!stays(job) && (beside == kNoJob || !stays(beside))) continue;
      const JobId first = runs(job) ? job : beside;
      const JobId second = first == job && beside != kNoJob && runs(beside) ? beside : kNoJob;
      if (!named.contains(first) && take(left, first, view)) {
        wish(first, second, type_held(first, view));
      }
    }
    for (const JobId job : jobs) {
      if (asked(job, view).is_cpu_job()) wish(job, kNoJob, ~std::uint64_t{0});
    }
    hand_out(vc, view, left, named, wish);
    vc.run.clear();
    for (const Wish& each : wishes) {
      vc.run.emplace_back(each.job, each.beside.empty() ? kNoJob : each.beside.front());
    }
  }

  /// Hands what is left of the GPUs to jobs that are not named: places of kinds, then the others.
  template <typename Wished>
  void hand_out(Vc& vc, const View& view, std::vector<Stock>& left, std::set<JobId>& named,
                Wished&& wish) {
    std::map<Kind, std::vector<JobId>> jobs_of;
    for (const JobId job : vc.jobs) {
      if (!named.contains(job)) jobs_of[kind_of(job, view)].push_back(job);
    }
    std::vector<std::pair<double, const Unit*>> behind;  // places, and of which
    for (const auto& [unit, time] : vc.times) {
      const double due_s = time.due * seconds(view.now - vc.divided + lease_);
      if (time.due > 0) behind.emplace_back((due_s - time.had_s) / seconds(lease_), &unit);
    }
    const auto by_places = [](const auto& a, const auto& b) {
      return a.first < b.first || (a.first == b.first && *b.second < *a.second);
    };
    std::make_heap(behind.begin(), behind.end(), by_places);
    while (!behind.empty()) {
      std::pop_heap(behind.begin(), behind.end(), by_places);
      auto& [places, unit] = behind.back();
      const JobId one = next(jobs_of[unit->one], unit->type, kNoJob, view);
      const JobId other = unit->is_pair && one != kNoJob
                              ? next(jobs_of[unit->other], unit->type, one, view)
                              : kNoJob;
      const bool is_there = one != kNoJob && (!unit->is_pair || other != kNoJob);
      if (!is_there || !take_type(left, one, unit->type, view)) {
        behind.pop_back();
        continue;
      }
      wish(one, other, unit->type);
      std::erase(jobs_of[unit->one], one);
      std::erase(jobs_of[unit->other], other);
      --places;
      std::push_heap(behind.begin(), behind.end(), by_places);
    }
    for (const JobId job : vc.jobs) {
      if (named.contains(job) || !take(left, asked(job, view))) continue;
      wish(job, kNoJob, asked(job, view).gpu_types);
    }
  }

  /// Of jobs of a kind the one that has run least, in whole leases; of those that have run as much
  /// one that is there already.
  JobId next(const std::vector<JobId>& jobs, std::uint64_t type, JobId beside,
             const View& view) const {
    JobId best = kNoJob;
    std::pair<std::int64_t, bool> least;
    for (const JobId job : jobs) {
      if (job == beside || (beside != kNoJob && may_share_ && !may_share_(beside, job))) continue;
      const std::pair key(view.attained(job) / lease_, type_held(job, view) != type);
      if (best != kNoJob && !(key < least)) continue;
      best = job;
      least = key;
    }
    return best;
  }

  static bool take_type(std::vector<Stock>& left, JobId job, std::uint64_t type, const View& view) {
    cluster::Demand demand = asked(job, view);
    demand.gpu_types &= type;
    return take(left, demand);
  }

  /// Adds what has run since the last decision.
  void count(Vc& vc, const View& view) {
    const double time_s = seconds(view.now - vc.counted);
    const auto runs = [&](JobId job) {
      return job != kNoJob && view.progress(job).phase == Phase::running;
    };
    for (const auto& [job, beside] : vc.run) {
      if (!runs(job) && !runs(beside)) continue;
      const JobId first = runs(job) ? job : beside;
      if (asked(first, view).is_cpu_job()) continue;
      Unit unit{.one = kind_of(first, view), .type = type_held(first, view)};
      unit.other = unit.one;
      if (runs(job) && runs(beside)) {
        unit.is_pair = true;
        unit.other = kind_of(beside, view);
        if (unit.other < unit.one) std::swap(unit.one, unit.other);
      }
      if (const auto known = vc.times.find(unit); known != vc.times.end()) {
        known->second.had_s += time_s;
      }
    }
    vc.counted = view.now;
  }

  /// Of each GPU of a type, MB; there is one type for each memory (Cluster::gpu_kinds).
  static std::int32_t memory_of(const Stock& type, VcId vc, const cluster::Ledger& ledger) {
    const auto pools = ledger.pools(vc);
    const auto found = std::find_if(pools.begin(), pools.end(), [&](const cluster::Pool& pool) {
      return pool.gpu_type == type.gpu_type;
    });
    return found == pools.end() ? cluster::kUnbounded : found->gpu_memory_mb;
  }

  void divide(VcId id, Vc& vc, const View& view, const cluster::Ledger& ledger) {
    const std::vector<Stock> all = stock(id, ledger);
    timeshare::Problem problem;
    for (const Stock& each : all) problem.gpus.push_back(static_cast<double>(each.milli) / 1000);
    std::vector<Kind> kinds;
    std::vector<JobId> one_of;
    std::map<Kind, std::size_t> known;
    for (const JobId job : vc.jobs) {
      if (asked(job, view).is_cpu_job()) continue;
      const auto [at, is_new] = known.try_emplace(kind_of(job, view), kinds.size());
      if (!is_new) {
        ++problem.jobs[at->second].count;
        continue;
      }
      kinds.push_back(at->first);
      one_of.push_back(job);
      timeshare::Job& made = problem.jobs.emplace_back();
      made.gpus = std::max(1, static_cast<int>(asked(job, view).gpus));
      for (const Stock& each : all) {
        const bool accepts = (each.gpu_type & asked(job, view).gpu_types) != 0;
        made.rates.push_back(accepts ? rate_on_type(job, each.gpu_type, id, view, ledger) : 0);
      }
    }
    const auto beside = [&](std::size_t type, std::size_t one,
                            std::size_t other) -> std::array<double, 2> {
      const auto kept = [&](std::size_t at, std::size_t neighbour) {
        const double alone = problem.jobs[at].rates[type];
        if (alone <= 0 || asked(one_of[at], view).is_part()) return 0.0;
        const int gpus = problem.jobs[at].gpus;
        const auto on = [&](std::span<const JobId> others) {
          return rate_on(one_of[at], gpus, all[type].gpu_type, id, view, ledger, others);
        };
        return alone * on({&one_of[neighbour], 1}) / on({});
      };
      const std::int32_t asked_mb = gpu_memory_mb(std::array{one_of[one], one_of[other]}, view);
      if (view.speeds == nullptr || asked_mb > memory_of(all[type], id, ledger)) return {0, 0};
      return {kept(one, other), kept(other, one)};
    };
    vc.times.clear();
    vc.divided = view.now;
    if (problem.jobs.empty()) return;
    const timeshare::Packing packing = timeshare::packed_max_min_fairness(problem, beside);
    for (std::size_t type = 0; type < all.size(); ++type) {
      const auto add = [&](const Kind& one, const Kind& other, bool is_pair, double time) {
        Unit unit{.one = one, .other = other, .is_pair = is_pair, .type = all[type].gpu_type};
        if (unit.other < unit.one) std::swap(unit.one, unit.other);
        if (time > 0) vc.times[unit].due += time;
      };
      for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        add(kinds[kind], kinds[kind], false, packing.alone[kind][type]);
      }
      for (const timeshare::Packing::Pair& pair : packing.pairs) {
        add(kinds[pair.one], kinds[pair.other], true, pair.times[type]);
      }
    }
  }

  /// Wakes at the end of the lease where a job runs and another waits, or two share.
  void settled(VcId id, const View& view, Plan& plan) override {
    const Vc& vc = vcs_[id];
    const auto runs = [&](JobId job) { return will_run(job, view, plan); };
    const bool shares = std::any_of(vc.run.begin(), vc.run.end(),
                                    [](const auto& each) { return each.second != kNoJob; });
    if (!shares && std::all_of(vc.jobs.begin(), vc.jobs.end(), runs)) return;
    if (std::any_of(vc.jobs.begin(), vc.jobs.end(), runs)) plan.wake(vc.lease_ends);
  }

  MayShare may_share_;
  Duration lease_;
  Duration reset_;
  std::map<VcId, Vc> vcs_;
  std::unordered_map<const perf::SpeedModel*, std::size_t> models_;  // in order of first sight
};

}  // namespace

void register_gavel_packed(Registry& registry) {
  registry.wholes.add(
      {.name = "gavel_packed",
       .summary = "max-min fairness over types of GPUs, where two jobs may be on the same ones",
       .source = "Narayanan et al. OSDI'20 (Gavel) §4.2",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus, Trait::stops_jobs,
                          Trait::moves_jobs, Trait::leases}},
       .parameters = {number("lease_s", "after which all is dealt out anew", 360, 1, 1e6),
                      number("reset_s", "two programs are at least so far apart", 1'920, 0, 1e7)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<GavelPacked>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told.duration("lease_s"), told.duration("reset_s"));
      });
}

}  // namespace almanac::policy::whole
