// SPDX-License-Identifier: Apache-2.0

/// \file
/// Divides the time on several GPU types by a program, and gives it out in leases: a job next runs
/// on the type where it has received least of its part.
///
/// whole/gavel/time_objective.h defines what the program optimizes. The speed of a job on a type
/// where it does not run comes from the speed models, or else from past jobs of its user and name;
/// if neither is known, all accepted types count as equally fast (Allocator::rate_on_type()).
///
/// `gavel_cost` divides time by price, again after each change of a price, and jobs move at the end
/// of the lease.
///
/// A job that begins while one before it in line finds no room is a guest: at the start of a lease
/// it gives way to the first in line, however short it has run.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), sections 3 to 5; SOSP'21 (POP). Prices that change:
///          Narayanan et al., DISPA'20 (MLCloudPrice).
/// Differs  The published rounds go through types in a fixed order; here all pairs of job and type
///          are one list, and pointless stops are omitted. The published program gives a new job no
///          part for up to `reset_s`; here the next lease divides again if a job waits. Time that a
///          job deserved and did not get is added to its next part; the published program only
///          breaks ties by it, and forgets jobs that get no turn within `reset_s`.
/// Cost     a program after jobs have come or gone, at most once per `reset_s`, or once per lease
///          while new jobs wait; otherwise a sort. If the program gives up, each job gets 1 / n of
///          each type.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "policy/kit/lease_allocator.h"
#include "policy/kit/prices.h"
#include "policy/registry.h"
#include "policy/whole/gavel/time_objective.h"
#include "rules/timeshare/programs.h"

namespace almanac::policy::whole {
namespace {

class Gavel final : public LeaseAllocator {
 public:
  Gavel(std::unique_ptr<Placement> placement, Host host, const Parameters& told,
        TimeObjective objective, bool heeds_prices)
      : LeaseAllocator(std::move(placement), told.duration("lease_s"), std::move(host.estimator),
                       std::move(host.type_speeds)),
        objective_(std::move(objective)),
        heeds_prices_(heeds_prices),
        reset_(told.duration("reset_s")) {}

 private:
  /// A job's part of each type, and what it has received since that was computed.
  struct Part {
    std::map<std::uint64_t, double> due;
    std::map<std::uint64_t, double> had_s;
    double owed_s = 0;  ///< Added to `due` once: what it deserved before and did not get.

    double due_of_all() const {
      return std::accumulate(due.begin(), due.end(), 0.0,
                             [](double sum, const auto& each) { return sum + each.second; });
    }
    /// Returns the time that the job deserved in the last `elapsed_s` and did not get.
    double owed_after(double elapsed_s) const {
      double owed = owed_s + due_of_all() * elapsed_s;
      for (const auto& [type, had] : had_s) owed -= had;
      return std::max(0.0, owed);
    }
  };
  struct Vc {
    std::map<JobId, Part> parts;
    std::set<JobId> guests;  // that began while a job before them in line found no room
    Division last;
    Time counted{};
    bool prices_changed = false;  // in this lease
  };
  struct Entry {
    double rank = 0;  // greatest first
    JobId job{};
    std::uint64_t type = 0;
  };

  void deal(Deal& deal, const View& view, Plan& plan, std::vector<Wish>& wishes) override {
    Vc& vc = vcs_[deal.vc];
    count(vc, deal.jobs, view);
    if (is_outdated(vc.last, deal, reset_, view)) divide(vc, deal, view, plan);
    if (deal.begins) {
      vc.prices_changed = false;
      make_room_for_first(vc, deal, view);
    }
    const std::vector<JobId> open = keep(deal.jobs, deal, view, wishes);
    std::set<JobId> named;
    bool is_passed = false;
    for (const Entry& entry : line(vc, open, deal.left, view)) {
      if (named.contains(entry.job)) continue;
      if (!take(deal.left, demand_of(entry, view))) {
        is_passed = true;
        continue;
      }
      named.insert(entry.job);
      wishes.push_back({entry.job, 0, entry.type});
      if (view.progress(entry.job).phase != Phase::waiting) continue;
      if (is_passed) {
        vc.guests.insert(entry.job);
      } else {
        vc.guests.erase(entry.job);
      }
    }
  }

  static cluster::Demand demand_of(const Entry& entry, const View& view) {
    cluster::Demand demand = asked(entry.job, view);
    demand.gpu_types = entry.type;
    return demand;
  }

  void make_room_for_first(Vc& vc, Deal& deal, const View& view) const {
    const auto runs = [&](JobId job) { return view.progress(job).phase == Phase::running; };
    std::erase_if(vc.guests, [&](JobId job) { return !runs(job); });
    if (vc.guests.empty()) return;
    std::vector<JobId> all(deal.jobs.begin(), deal.jobs.end());
    std::erase_if(all, [&](JobId job) { return asked(job, view).is_cpu_job(); });
    const std::vector<Entry> entries = line(vc, all, deal.left, view);
    if (entries.empty() || runs(entries.front().job)) return;
    make_room(demand_of(entries.front(), view), vc.guests, deal, view);
  }

  /// Adds run time since the last decision.
  static void count(Vc& vc, std::span<const JobId> jobs, const View& view) {
    for (const JobId job : jobs) {
      if (view.progress(job).phase != Phase::running) continue;
      const Time since = std::max(vc.counted, view.progress(job).since);
      if (since < view.now) vc.parts[job].had_s[type_held(job, view)] += seconds(view.now - since);
    }
    vc.counted = view.now;
  }

  void divide(Vc& vc, const Deal& deal, const View& view, const Plan& plan) const {
    timeshare::Problem problem;
    for (const Stock& each : deal.left) problem.gpus.push_back(each.gpus());
    std::vector<JobId> who;
    for (const JobId job : deal.jobs) {
      if (asked(job, view).is_cpu_job()) continue;
      who.push_back(job);
      problem.jobs.push_back({.rates = rates_on(deal.left, job, deal.vc, view, plan.ledger),
                              .gpus = std::max(1, static_cast<int>(asked(job, view).gpus)),
                              .steps_left = seconds(work_left(job, view)),
                              .age_s = seconds(view.now - view.request(job).submit)});
    }
    const timeshare::Fractions alone = timeshare::isolated(problem);
    for (std::size_t at = 0; at < who.size(); ++at) {
      timeshare::Job& job = problem.jobs[at];
      const double rate = timeshare::effective_rate(job, alone[at]);
      if (rate > 0) job.alone_s = seconds(view.worked(who[at])) / rate;
    }
    timeshare::Fractions fractions = objective_(problem, who, deal.left, view);
    if (!timeshare::can_be_carried_out(problem, fractions)) fractions = alone;
    const std::map<JobId, Part> before = std::exchange(vc.parts, {});
    const double elapsed_s = vc.last.at == kNoTime ? 0 : seconds(view.now - vc.last.at);
    for (std::size_t at = 0; at < who.size(); ++at) {
      const auto known = before.find(who[at]);
      const bool had_part = known != before.end() && was_there(vc.last, who[at]);
      Part& part = vc.parts[who[at]];
      part.owed_s = had_part ? known->second.owed_after(elapsed_s)
                             : newcomers_s(who[at], fractions[at], elapsed_s, view);
      for (std::size_t type = 0; type < deal.left.size(); ++type) {
        part.due[deal.left[type].gpu_type] = fractions[at][type];
      }
    }
    vc.last = division_of(deal, view);
  }

  static bool was_there(const Division& last, JobId job) {
    return std::binary_search(last.jobs.begin(), last.jobs.end(), job);
  }

  /// Returns what a job that came after the last division is owed: its part since it came, minus
  /// what it has received.
  static double newcomers_s(JobId job, const std::vector<double>& row, double elapsed_s,
                            const View& view) {
    const double there_s = std::min(elapsed_s, seconds(view.now - view.request(job).submit));
    const double due = std::accumulate(row.begin(), row.end(), 0.0);
    return std::max(0.0, due * there_s - seconds(view.attained(job)));
  }

  void signalled(const Event& event, const View& view) override {
    if (!heeds_prices_ || !is_price(view.signals[event.subject])) return;
    for (auto& [id, vc] : vcs_) {
      vc.last.at = kNoTime;
      vc.prices_changed = true;
    }
  }
  bool renews(VcId id) const override { return vcs_.at(id).prices_changed; }

  /// Returns each job on each accepted type, first where it has received the least of its part.
  /// Half a lease counts as received from the start, so that a first moment does not outweigh
  /// everything. Owed time counts as deserved since the division, so its weight falls over time.
  std::vector<Entry> line(Vc& vc, const std::vector<JobId>& open, const std::vector<Stock>& stock,
                          const View& view) const {
    std::vector<Entry> entries;
    const Duration ago = vc.last.at == kNoTime ? Duration{0} : view.now - vc.last.at;
    const double since_s = seconds(std::max(lease(), ago));
    for (const JobId job : open) {
      Part& part = vc.parts[job];
      const double due_of_all = part.due_of_all();
      const double grown = due_of_all > 0 ? 1 + part.owed_s / (due_of_all * since_s) : 1;
      for (const Stock& each : stock) {
        if ((each.gpu_type & asked(job, view).gpu_types) == 0) continue;
        const double had_s = part.had_s[each.gpu_type] + seconds(lease()) / 2;
        entries.push_back({part.due[each.gpu_type] * grown / had_s, job, each.gpu_type});
      }
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.rank > b.rank; });
    return entries;
  }

  TimeObjective objective_;
  bool heeds_prices_;
  Duration reset_;
  std::map<VcId, Vc> vcs_;
};

}  // namespace

void register_gavel(Registry& registry) {
  const Parameter lease = number("lease_s", "time between two reallocations", 360, 1, 1e6);
  const Parameter reset = number(
      "reset_s", "shortest time between two solutions of the program, unless a new job waits",
      1'920, 0, 1e7);
  registry.wholes.add(
      {.name = "gavel",
       .summary = "leases of GPU types by a linear program, for fairness, finish times, duration, "
                  "throughput or tenants",
       .source = "Narayanan et al. OSDI'20 (Gavel)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_speeds, Trait::stops_jobs,
                          Trait::moves_jobs, Trait::leases}},
       .parameters = {word("objective", "objective of the program",
                           {"fairness", "finish_time", "duration", "throughput", "tenants"}),
                      lease, reset,
                      whole_number("parts",
                                   "number of parts that jobs and GPUs are split into (POP); 0: as "
                                   "many as keep 10,000 jobs under a second",
                                   0, 0, 1'000)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Gavel>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told,
            objective_of(told.word("objective"), static_cast<std::size_t>(told.whole("parts"))),
            /*heeds_prices=*/false);
      });
  registry.wholes.add(
      {.name = "gavel_cost",
       .summary = "leases of GPU types by their (changing) prices and by deadlines",
       .source = "Narayanan et al. OSDI'20 (Gavel), DISPA'20 (MLCloudPrice)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_signals, Trait::stops_jobs,
                          Trait::moves_jobs, Trait::leases}},
       .parameters = {lease, reset}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Gavel>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told, by_prices(), /*heeds_prices=*/true);
      });
}

}  // namespace almanac::policy::whole
