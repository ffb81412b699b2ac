// SPDX-License-Identifier: Apache-2.0

/// \file
/// Time on several types of GPUs, divided by a program and handed out in leases: a job runs next
/// where it has had least of what it is to have.
///
/// The programs are those of `timeshare`. How fast a job is on a type it does not run on is what
/// the speed models say; without them what was learned of jobs of its user and name, else all types
/// that it accepts are as fast (Allocator::rate_on_type()). In a lease whatever
/// becomes free is handed out at once, and no job is stopped; nor is one at its end that has gained
/// less than a lease of work over what a stop costs it.
///
/// `tenants` is water filling over owners, by the guarantees of tenants from the top of the tree
/// down: what an owner cannot use the others have. Within one its jobs share evenly.
///
/// `gavel_cost` raises the sum of rates per price of the GPUs, and keeps deadlines where all can be
/// kept. The price of a type is the signal `price/TYPE`; one that is not told is 1. It is divided
/// anew with each change of a price, and jobs move at the end of the lease.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), sections 3 to 5; SOSP'21 (POP). Prices that change:
///          Narayanan et al., DISPA'20 (MLCloudPrice).
/// Differs  The published rounds go type by type in a fixed order; here all pairs of job and type
///          are one line, and stops that gain nothing are left out. Jobs that came after the last
///          division wait behind those that have a part.
/// Cost     a program where jobs have come or gone, at most once in `reset_s`; else a sort. The
///          programs of finish times and durations grow with the square of the jobs: beyond 1,000
///          these are split, so that no clock has to stop a solver that is late. One that gives up
///          leaves each job 1 / n of each type.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "policy/kit/allocator.h"
#include "policy/kit/prices.h"
#include "policy/kit/tree_parts.h"
#include "policy/registry.h"
#include "timeshare/partition.h"
#include "timeshare/programs.h"

namespace almanac::policy::whole {
namespace {

using timeshare::Fractions;
using timeshare::Problem;

Fractions most_throughput(const Problem& problem) { return timeshare::max_sum_throughput(problem); }

/// Null = by owners, or by prices.
Fractions (*program_of(const std::string& objective))(const Problem&) {
  if (objective == "tenants") return nullptr;
  if (objective == "finish_time") return &timeshare::finish_time_fairness;
  if (objective == "duration") return &timeshare::min_total_duration;
  if (objective == "throughput") return &most_throughput;
  return &timeshare::max_min_fairness;
}

class Gavel final : public Allocator {
 public:
  Gavel(std::unique_ptr<Placement> placement, Host host, const Parameters& told)
      : Allocator(std::move(placement), std::move(host.estimator), std::move(host.type_speeds)),
        program_(program_of(told.word("objective"))),
        by_owners_(told.word("objective") == "tenants"),
        lease_(told.duration("lease_s")),
        reset_(told.duration("reset_s")),
        parts_(static_cast<std::size_t>(told.whole("parts"))) {}
  /// By prices.
  Gavel(std::unique_ptr<Placement> placement, Host host, Duration lease, Duration reset)
      : Allocator(std::move(placement), std::move(host.estimator), std::move(host.type_speeds)),
        lease_(lease),
        reset_(reset) {}

 private:
  /// What a job is to have of each type, and has had since that was worked out.
  struct Part {
    std::map<std::uint64_t, double> due;
    std::map<std::uint64_t, double> had_s;
  };
  struct Vc {
    std::map<JobId, Part> parts;
    std::vector<JobId> jobs;  // at the last decision
    Time divided = kNoTime;
    Time counted{};
    Time lease_ends{};
    bool deals_anew = false;  // at the end of the lease, though no job wait
  };
  struct Entry {
    double rank = 0;  // greatest first
    JobId job{};
    std::uint64_t type = 0;
  };

  void allocate(VcId id, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    Vc& vc = vcs_[id];
    count(vc, jobs, view);
    const bool changed = !std::equal(jobs.begin(), jobs.end(), vc.jobs.begin(), vc.jobs.end());
    vc.jobs.assign(jobs.begin(), jobs.end());
    if (vc.divided == kNoTime || (changed && view.now - vc.divided >= reset_)) {
      divide(id, vc, view, plan);
    }
    std::vector<Stock> left = stock(id, plan.ledger);
    const bool lease_goes_on = view.now < vc.lease_ends;
    if (!lease_goes_on) {
      vc.lease_ends = view.now + lease_;
      vc.deals_anew = false;
    }
    std::map<JobId, bool> named;
    for (const JobId job : jobs) {
      const bool stays = view.progress(job).phase == Phase::running &&
                         (lease_goes_on || !has_gained(job, lease_, view));
      if (!stays && !asked(job, view).is_cpu_job()) continue;
      if (stays) take(left, job, view);
      wishes.push_back({job});
      named[job] = true;
    }
    for (const Entry& entry : line(vc, left, view)) {
      if (named[entry.job]) continue;
      cluster::Demand demand = asked(entry.job, view);
      demand.gpu_types = entry.type;
      if (!take(left, demand)) continue;
      named[entry.job] = true;
      wishes.push_back({entry.job, 0, entry.type});
    }
  }

  /// Adds what has run since the last decision.
  static void count(Vc& vc, std::span<const JobId> jobs, const View& view) {
    for (const JobId job : jobs) {
      if (view.progress(job).phase != Phase::running) continue;
      const Time since = std::max(vc.counted, view.progress(job).since);
      if (since < view.now) vc.parts[job].had_s[type_held(job, view)] += seconds(view.now - since);
    }
    vc.counted = view.now;
  }

  void divide(VcId id, Vc& vc, const View& view, const Plan& plan) {
    const std::vector<Stock> all = stock(id, plan.ledger);
    Problem problem;
    for (const Stock& each : all) problem.gpus.push_back(static_cast<double>(each.milli) / 1000);
    std::vector<JobId> who;
    for (const JobId job : vc.jobs) {
      const cluster::Demand& demand = asked(job, view);
      if (demand.is_cpu_job()) continue;
      who.push_back(job);
      timeshare::Job& made = problem.jobs.emplace_back();
      made.gpus = std::max(1, static_cast<int>(demand.gpus));
      for (const Stock& each : all) {
        const bool accepts = (each.gpu_type & demand.gpu_types) != 0;
        made.rates.push_back(accepts ? rate_on_type(job, each.gpu_type, id, view, plan.ledger) : 0);
      }
      made.steps_left = seconds(work_left(job, view));
      made.age_s = seconds(view.now - view.request(job).submit);
    }
    const Fractions alone = timeshare::isolated(problem);
    for (std::size_t at = 0; at < who.size(); ++at) {
      timeshare::Job& job = problem.jobs[at];
      const double rate = timeshare::effective_rate(job, alone[at]);
      if (rate > 0) job.alone_s = seconds(view.worked(who[at])) / rate;
    }
    Fractions fractions = divided(problem, who, all, view);
    if (!timeshare::can_be_carried_out(problem, fractions)) fractions = alone;
    vc.parts.clear();
    for (std::size_t at = 0; at < who.size(); ++at) {
      for (std::size_t type = 0; type < all.size(); ++type) {
        vc.parts[who[at]].due[all[type].gpu_type] = fractions[at][type];
      }
    }
    vc.divided = view.now;
  }

  Fractions divided(const Problem& problem, const std::vector<JobId>& who,
                    const std::vector<Stock>& stock, const View& view) const {
    if (by_owners_) return by_owners(problem, who, view);
    if (program_ == nullptr) {
      std::vector<double> prices;
      for (const Stock& each : stock) prices.push_back(price_of(each.gpu_type, view));
      std::vector<double> to_deadline_s;
      for (const JobId job : who) {
        const Time deadline = view.request(job).deadline;
        to_deadline_s.push_back(deadline == kNoTime ? std::numeric_limits<double>::infinity()
                                                    : seconds(deadline - view.now));
      }
      return timeshare::max_sum_throughput(problem, prices, to_deadline_s);
    }
    const std::size_t jobs = std::max<std::size_t>(1, who.size());
    const std::size_t parts =
        std::clamp<std::size_t>(parts_ > 0 ? parts_ : enough_parts(jobs), 1, jobs);
    return timeshare::by_parts(problem, parts, program_);
  }

  Fractions by_owners(const Problem& problem, const std::vector<JobId>& who,
                      const View& view) const {
    Problem kinds{.gpus = problem.gpus, .jobs = {}};  // jobs of one owner that are alike are one
    std::vector<std::size_t> kind_of;
    std::map<std::tuple<Owner, int, std::vector<double>>, std::size_t> known;
    std::map<Owner, timeshare::Entity> owners;
    for (std::size_t at = 0; at < who.size(); ++at) {
      const timeshare::Job& job = problem.jobs[at];
      const Owner owner = owner_of(who[at], view);
      const auto [kind, is_new] =
          known.try_emplace({owner, job.gpus, job.rates}, kinds.jobs.size());
      if (is_new) {
        kinds.jobs.push_back(job);
        owners[owner].jobs.push_back(kind->second);
      } else {
        ++kinds.jobs[kind->second].count;
      }
      kind_of.push_back(kind->second);
    }
    std::vector<Owner> present;
    std::vector<timeshare::Entity> entities;
    for (auto& [owner, entity] : owners) {
      present.push_back(owner);
      entities.push_back(std::move(entity));
    }
    const std::vector<double> parts = parts_of_tree(present, view);
    for (std::size_t at = 0; at < entities.size(); ++at) {
      // Who has no guarantee has next to nothing while others want all.
      entities[at].weight = std::max(parts[at], kLeastPart / static_cast<double>(parts.size()));
    }
    const Fractions filled = timeshare::water_filling(kinds, entities);
    Fractions made;
    for (const std::size_t kind : kind_of) made.push_back(filled[kind]);
    return made;
  }

  /// So many that all programs together take no longer than one of kWhole jobs does, well below a
  /// second. Those that count alike jobs once need no parts.
  std::size_t enough_parts(std::size_t jobs) const {
    if (program_ != &timeshare::finish_time_fairness &&
        program_ != &timeshare::min_total_duration) {
      return 1;
    }
    constexpr double kWhole = 1'000;
    const double times = static_cast<double>(jobs) / kWhole;
    return static_cast<std::size_t>(std::ceil(times * times));
  }

  void signalled(const Event& event, const View& view) override {
    if (program_ != nullptr || by_owners_ || !is_price(view.signals[event.subject])) return;
    for (auto& [id, vc] : vcs_) {
      vc.divided = kNoTime;
      vc.deals_anew = true;
      if (!vc.jobs.empty()) look_at(vc.jobs.front(), view);
    }
  }

  /// Each job on each type that it accepts, first where it has had least of what is due to it. Half
  /// a lease counts as had from the beginning, so that a first moment does not outweigh all.
  std::vector<Entry> line(Vc& vc, const std::vector<Stock>& stock, const View& view) const {
    std::vector<Entry> entries;
    for (const JobId job : vc.jobs) {
      if (asked(job, view).is_cpu_job()) continue;
      Part& part = vc.parts[job];
      for (const Stock& each : stock) {
        if ((each.gpu_type & asked(job, view).gpu_types) == 0) continue;
        const double had_s = part.had_s[each.gpu_type] + seconds(lease_) / 2;
        entries.push_back({part.due[each.gpu_type] / had_s, job, each.gpu_type});
      }
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.rank > b.rank; });
    return entries;
  }

  /// Wakes at the end of the lease where a job runs, and another waits or prices have changed.
  void settled(VcId id, const View& view, Plan& plan) override {
    const Vc& vc = vcs_[id];
    const auto runs = [&](JobId job) { return will_run(job, view, plan); };
    if (!vc.deals_anew && std::all_of(vc.jobs.begin(), vc.jobs.end(), runs)) return;
    if (std::any_of(vc.jobs.begin(), vc.jobs.end(), runs)) plan.wake(vc.lease_ends);
  }

  static constexpr double kLeastPart = 1e-3;
  Fractions (*program_)(const Problem&) = nullptr;  // null = by owners, or by prices
  bool by_owners_ = false;
  Duration lease_;
  Duration reset_;
  std::size_t parts_ = 1;
  std::map<VcId, Vc> vcs_;
};

}  // namespace

void register_gavel(Registry& registry) {
  const Parameter lease = number("lease_s", "after which all is dealt out anew", 360, 1, 1e6);
  const Parameter reset =
      number("reset_s", "two programs are at least so far apart", 1'920, 0, 1e7);
  registry.wholes.add(
      {.name = "gavel",
       .summary = "leases on types of GPUs by a program: fairness, finish times, duration, "
                  "throughput, tenants",
       .source = "Narayanan et al. OSDI'20 (Gavel)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_speeds, Trait::stops_jobs,
                          Trait::moves_jobs, Trait::leases}},
       .parameters = {word("objective", "what the program optimises",
                           {"fairness", "finish_time", "duration", "throughput", "tenants"}),
                      lease, reset,
                      whole_number("parts",
                                   "into which jobs and GPUs are split (POP); 0 = as many as let "
                                   "10,000 jobs be divided in a second",
                                   0, 0, 1'000)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Gavel>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told);
      });
  registry.wholes.add(
      {.name = "gavel_cost",
       .summary = "leases on types of GPUs by their prices, which may change, and deadlines",
       .source = "Narayanan et al. OSDI'20 (Gavel), DISPA'20 (MLCloudPrice)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_signals, Trait::stops_jobs,
                          Trait::moves_jobs, Trait::leases}},
       .parameters = {lease, reset}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Gavel>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told.duration("lease_s"), told.duration("reset_s"));
      });
}

}  // namespace almanac::policy::whole
