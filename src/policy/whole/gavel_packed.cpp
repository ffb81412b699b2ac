// SPDX-License-Identifier: Apache-2.0

/// \file
/// Max-min fairness over GPU types if two jobs may run on the same GPUs: a program divides time
/// among single jobs and pairs, and leases give it out.
///
/// Jobs with the same number, types and memory of GPUs and the same model and batch are a kind. The
/// program gives time to kinds and to pairs of kinds (whole/gavel_packed/pair_time.h). At the start
/// of a lease, each kind or pair gets as many places as make up for what it deserved until then and
/// will deserve in this lease, the one most behind in GPU time first. A place goes to the job of
/// the kind that has run least, in whole leases. GPUs that are still free go to other jobs, alone.
/// GPUs that become free within a lease are given out in the same way. A job that begins while a
/// kind before its own finds no room is a guest, as in whole/gavel.cpp.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), sections 4.2 and 5, and its program.
/// Differs  The published rounds rank each pair of jobs, 500,000 pairs for a thousand jobs. Here
///          the run time so far, not the program, decides which jobs of a kind share.
/// Cost     a program of n^2 / 2 columns per type with n kinds of equal GPU count, after jobs have
///          come or gone, at most once per `reset_s` or once per lease while new jobs wait;
///          otherwise a step per pair of kinds that has time
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "policy/kit/lease_allocator.h"
#include "policy/registry.h"
#include "policy/whole/gavel_packed/pair_time.h"
#include "rules/timeshare/packed.h"

namespace almanac::policy::whole {
namespace {

class GavelPacked final : public LeaseAllocator {
 public:
  GavelPacked(std::unique_ptr<Placement> placement, Host host, Duration lease, Duration reset)
      : LeaseAllocator(std::move(placement), lease, std::move(host.estimator),
                       std::move(host.type_speeds)),
        may_share_(std::move(host.may_share)),
        reset_(reset) {}

 private:
  struct Share {
    double due = 0;  // places at a time
    double had_s = 0;
  };
  struct Vc {
    std::map<Unit, Share> times;
    std::set<JobId> guests;
    Division last;
    Time counted{};
  };

  using Behind = std::pair<double, const Unit*>;  // GPUs times leases, and of which

  bool groups_jobs() const override { return true; }

  void deal(Deal& deal, const View& view, Plan& plan, std::vector<Wish>& wishes) override {
    Vc& vc = vcs_[deal.vc];
    count(vc, groups(deal.vc), view);
    if (is_outdated(vc.last, deal, reset_, view)) divide(vc, deal, view, plan.ledger);
    if (deal.begins) make_room_for_first(vc, deal, view);
    const std::vector<JobId> open = keep_groups(deal, view, wishes);
    for (Wish& wish : wishes) {  // one that guests of others leave no cores moves on its type only
      if (!asked(wish.job, view).is_cpu_job()) wish.gpu_types = type_of_[index(wish.job)];
    }
    placed_.clear();
    const bool is_passed = !open.empty() && hand_out(vc, open, deal.left, view, wishes);
    for (const JobId job : open) {
      if (placed_.has(job) || !take(deal.left, asked(job, view))) continue;
      note_start(vc, job, is_passed, view);
      wishes.push_back({.job = job, .gpu_types = asked(job, view).gpu_types});
    }
  }

  /// Names jobs of `open` for the places of their kinds, the kind most behind first. Returns
  /// whether one found no room.
  bool hand_out(Vc& vc, const std::vector<JobId>& open, std::vector<Stock>& left, const View& view,
                std::vector<Wish>& wishes) {
    std::map<SharerKind, std::vector<JobId>> jobs_of;
    for (const JobId job : open) jobs_of[kinds_.of(job, view)].push_back(job);
    std::vector<Behind> behind = behind_of(vc, view);
    const auto name = [&](JobId job, const SharerKind& kind) {
      placed_.add(job);
      std::erase(jobs_of[kind], job);
    };
    bool is_passed = false;
    while (!behind.empty()) {
      std::pop_heap(behind.begin(), behind.end(), by_leases);
      auto& [leases, unit] = behind.back();
      const JobId one = next(jobs_of[unit->one], unit->type, kNoJob, view);
      const JobId other = unit->is_pair && one != kNoJob
                              ? next(jobs_of[unit->other], unit->type, one, view)
                              : kNoJob;
      const bool is_there = one != kNoJob && (!unit->is_pair || other != kNoJob);
      if (!is_there || !take_type(left, one, unit->type, view)) {
        is_passed = is_passed || is_there;
        behind.pop_back();
        continue;
      }
      wishes.push_back({.job = one, .gpu_types = unit->type});
      name(one, unit->one);
      if (unit->is_pair) {
        wishes.back().beside.push_back(other);
        name(other, unit->other);
        note_start(vc, other, is_passed, view);
      }
      note_start(vc, one, is_passed, view);
      leases -= unit->one.gpus;
      std::push_heap(behind.begin(), behind.end(), by_leases);
    }
    return is_passed;
  }

  /// Makes a job that starts a guest if one before it in line found no room.
  static void note_start(Vc& vc, JobId job, bool is_passed, const View& view) {
    if (view.progress(job).phase != Phase::waiting) return;
    if (is_passed) {
      vc.guests.insert(job);
    } else {
      vc.guests.erase(job);
    }
  }

  static bool by_leases(const Behind& a, const Behind& b) {
    return a.first < b.first || (a.first == b.first && *b.second < *a.second);
  }

  /// Returns a heap of all kinds and pairs, the one most behind on top.
  std::vector<Behind> behind_of(const Vc& vc, const View& view) const {
    std::vector<Behind> behind;
    for (const auto& [unit, time] : vc.times) {
      const double due_s = time.due * seconds(view.now - vc.last.at + lease());
      behind.emplace_back(unit.one.gpus * (due_s - time.had_s) / seconds(lease()), &unit);
    }
    std::make_heap(behind.begin(), behind.end(), by_leases);
    return behind;
  }

  void make_room_for_first(Vc& vc, Deal& deal, const View& view) {
    const auto runs = [&](JobId job) { return view.progress(job).phase == Phase::running; };
    std::erase_if(vc.guests, [&](JobId job) { return !runs(job); });
    if (vc.guests.empty() || vc.times.empty()) return;
    const Unit& first = *behind_of(vc, view).front().second;
    std::vector<JobId> jobs;
    std::copy_if(deal.jobs.begin(), deal.jobs.end(), std::back_inserter(jobs),
                 [&](JobId job) { return kinds_.of(job, view) == first.one; });
    const JobId job = next(jobs, first.type, kNoJob, view);
    if (job == kNoJob || runs(job)) return;
    cluster::Demand demand = asked(job, view);
    demand.gpu_types &= first.type;
    make_room(demand, vc.guests, deal, view);
  }

  /// Returns the job of a kind that has run least, in whole leases; among equals a job that is on
  /// this type already.
  JobId next(const std::vector<JobId>& jobs, std::uint64_t type, JobId beside,
             const View& view) const {
    JobId best = kNoJob;
    std::pair<std::int64_t, bool> least;
    for (const JobId job : jobs) {
      if (job == beside || (beside != kNoJob && may_share_ && !may_share_(beside, job))) continue;
      const std::pair key(view.attained(job) / lease(), type_held(job, view) != type);
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

  /// Adds run time since the last decision, and notes the types that groups are on.
  void count(Vc& vc, std::span<const std::vector<JobId>> groups, const View& view) {
    const double since_s = seconds(view.now - vc.counted);
    const auto runs = [&](JobId job) { return view.progress(job).phase == Phase::running; };
    for (const std::vector<JobId>& group : groups) {
      const auto first = std::find_if(group.begin(), group.end(), runs);
      if (first == group.end() || asked(*first, view).is_cpu_job()) continue;
      const auto second = std::find_if(first + 1, group.end(), runs);
      const std::uint64_t type = type_held(*first, view);
      if (index(*first) >= type_of_.size()) type_of_.resize(2 * index(*first) + 64);
      type_of_[index(*first)] = type;
      const SharerKind one = kinds_.of(*first, view);
      const Unit unit =
          second == group.end() ? unit_of(one, type) : unit_of(one, kinds_.of(*second, view), type);
      if (const auto known = vc.times.find(unit); known != vc.times.end()) {
        known->second.had_s += since_s;
      }
    }
    vc.counted = view.now;
  }

  void divide(Vc& vc, const Deal& deal, const View& view, const cluster::Ledger& ledger) {
    const auto rates = [&](JobId job) { return rates_on(deal.left, job, deal.vc, view, ledger); };
    std::map<SharerKind, double> owed_s = owed(vc, view);
    const Time before = vc.last.at;
    const std::map<Unit, double> dues =
        divide_among_pairs(deal.jobs, deal.left, deal.vc, rates, kinds_, programs_, view, ledger);
    std::map<SharerKind, double> due_of;
    for (const auto& [unit, due] : dues) {
      for (const SharerKind& kind : kinds_in(unit)) due_of[kind] += due;
    }
    if (before != kNoTime) add_newcomers(owed_s, due_of, vc, deal, view);
    vc.times.clear();
    for (const auto& [unit, due] : dues) {
      double more_s = 0;  // share of the time that its kinds are owed
      for (const SharerKind& kind : kinds_in(unit)) {
        const auto known = owed_s.find(kind);
        if (known == owed_s.end() || due_of[kind] <= 0) continue;
        more_s = std::max(more_s, known->second * due / due_of[kind]);
      }
      vc.times[unit] = {.due = due, .had_s = -more_s};
    }
    vc.last = division_of(deal, view);
  }

  /// Adds the time owed to kinds without a job at the last division, since their first job came.
  void add_newcomers(std::map<SharerKind, double>& owed_s,
                     const std::map<SharerKind, double>& due_of, const Vc& vc, const Deal& deal,
                     const View& view) {
    std::set<SharerKind> known;
    for (const auto& [unit, time] : vc.times) {
      for (const SharerKind& kind : kinds_in(unit)) known.insert(kind);
    }
    for (const JobId job : deal.jobs) {  // in the order in which they came
      if (asked(job, view).is_cpu_job()) continue;
      const SharerKind kind = kinds_.of(job, view);
      const auto due = due_of.find(kind);
      if (due == due_of.end() || !known.insert(kind).second) continue;
      const Time since = std::max(vc.last.at, view.request(job).submit);
      owed_s[kind] = due->second * seconds(view.now - since);
    }
  }

  static std::vector<SharerKind> kinds_in(const Unit& unit) {
    if (!unit.is_pair || unit.one == unit.other) return {unit.one};
    return {unit.one, unit.other};
  }

  /// Returns the time that jobs of each kind deserved since the last division and did not get.
  static std::map<SharerKind, double> owed(const Vc& vc, const View& view) {
    std::map<SharerKind, double> made;
    if (vc.last.at == kNoTime) return made;
    for (const auto& [unit, time] : vc.times) {
      const double owed_s = time.due * seconds(view.now - vc.last.at) - time.had_s;
      for (const SharerKind& kind : kinds_in(unit)) made[kind] += owed_s;
    }
    std::erase_if(made, [](const auto& each) { return each.second <= 0; });
    return made;
  }

  MayShare may_share_;
  Duration reset_;
  SharerKinds kinds_;
  timeshare::PackedPrograms programs_;
  std::map<VcId, Vc> vcs_;
  std::vector<std::uint64_t> type_of_;  // by the first job of a group that runs
  JobMarks placed_;                     // by hand_out()
};

}  // namespace

void register_gavel_packed(Registry& registry) {
  registry.wholes.add(
      {.name = "gavel_packed",
       .summary = "max-min fairness over GPU types; two jobs may share GPUs",
       .source = "Narayanan et al. OSDI'20 (Gavel) §4.2",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus, Trait::stops_jobs,
                          Trait::moves_jobs, Trait::leases}},
       .parameters =
           {number("lease_s", "time between two reallocations", 360, 1, 1e6),
            number("reset_s",
                   "shortest time between two solutions of the program, unless a new job waits",
                   1'920, 0, 1e7)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<GavelPacked>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told.duration("lease_s"), told.duration("reset_s"));
      });
}

}  // namespace almanac::policy::whole
