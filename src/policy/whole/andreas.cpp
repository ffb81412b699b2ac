// SPDX-License-Identifier: Apache-2.0

/// \file
/// ANDREAS: at each lease, jobs get GPU types and numbers of GPUs so that the price of their GPUs
/// plus the cost of being late is least. Jobs may be left to wait for that.
///
/// Greedily, jobs choose in the order of their pressure: the time that they need at the fastest
/// less the time to their deadline, then those without a deadline in order of arrival. Each takes
/// the cheapest way to run in time for which GPUs are free, or else the one that ends first. This
/// is repeated `draws` times with neighbors in the order swapped, cheap ways drawn more often than
/// expensive ones, and some waiting jobs left to wait, all at random. The cheapest outcome counts.
/// In it, a waiting job costs as much as its cheapest way from the next end of a running job on. So
/// a job without a deadline waits for a cheap type, and a job with one only while that is cheaper.
///
/// The price of a GPU is the signal `price/TYPE` (kit/prices.h), such as that of its energy. An
/// elastic job may have any of its sizes on one node; any other job has what it requests. During a
/// lease, free GPUs are given out in the same way and no job is stopped. A job that begins while
/// one before it finds no room is a guest, as in whole/gavel.cpp.
///
/// Source   Filippini et al., 2021 (ANDREAS, arXiv 2105.05080): energy and tardiness of jobs on GPU
///          types, jobs that are postponed or preempted, a randomized greedy algorithm. Its
///          abstract and introduction were available; the order by pressure, the choice of ways
///          and the cost of waiting are from general knowledge of it.
/// Differs  A GPU costs while a job holds it; idle parts of a node cost nothing. Times are the
///          predictions of the composition. Cores and memory count when a job is placed: if a node
///          has too few left, the job waits for the next decision. Only the first `considered` jobs
///          for which GPUs are free choose, by deadline, then in order of arrival.
/// Cost     draws x considered x ways per decision, and a prediction for each way
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "policy/kit/lease_allocator.h"
#include "policy/kit/prices.h"
#include "policy/registry.h"
#include "policy/whole/andreas/greedy_search.h"
#include "trace/sizes.h"

namespace almanac::policy::whole {
namespace {

constexpr double kForever = GreedySearch::kForever;

class Andreas final : public LeaseAllocator {
 public:
  Andreas(std::unique_ptr<Placement> placement, Host host, const Parameters& told)
      : LeaseAllocator(std::move(placement), told.duration("lease_s"), std::move(host.estimator),
                       std::move(host.type_speeds)),
        search_(told.number("late_cost"), told.whole("draws")),
        considered_(static_cast<std::size_t>(told.whole("considered"))) {}

 private:
  using Ask = GreedySearch::Ask;
  using Way = GreedySearch::Way;

  void deal(Deal& deal, const View& view, Plan& plan, std::vector<Wish>& wishes) override {
    std::set<JobId>& guests = guests_[deal.vc];
    std::erase_if(guests, [&](JobId job) { return view.progress(job).phase != Phase::running; });
    const std::vector<Stock> all = deal.left;
    if (deal.begins && !guests.empty()) make_room_for_first(guests, deal, view);
    std::vector<JobId>& line = lines_[deal.vc];
    line = keep(deal.jobs, deal, view, wishes);
    by_deadline(line, view);
    deal.left = all;
    const double first_end_s = keep_sizes(wishes, deal, view, plan.ledger);
    std::vector<Ask> asking;
    std::set<JobId> passers;  // with room where a job before them has none
    bool is_passed = false;
    for (const JobId job : line) {
      if (asking.size() == considered_) break;
      if (!may_fit(job, deal.left, view)) {
        is_passed = is_passed || may_fit(job, all, view);
        continue;
      }
      asking.push_back(ways_of(job, all, deal.vc, view, plan.ledger));
      if (is_passed && !asking.back().runs) passers.insert(job);
    }
    // The draws depend on the time only, so that looking twice finds the same.
    Rng rng(static_cast<std::uint64_t>(view.now.time_since_epoch().count()), 1);
    const auto ways = search_.choose(asking, deal.left, first_end_s, rng);
    for (std::size_t at = 0; at < asking.size(); ++at) {
      if (ways[at] == nullptr) continue;
      wishes.push_back(
          {.job = asking[at].job, .gpus = ways[at]->gpus, .gpu_types = ways[at]->type});
      if (passers.contains(asking[at].job)) guests.insert(asking[at].job);
    }
  }

  void make_room_for_first(const std::set<JobId>& guests, Deal& deal, const View& view) const {
    std::vector<JobId> ranked(deal.jobs.begin(), deal.jobs.end());
    std::erase_if(ranked, [&](JobId job) {
      return asked(job, view).is_cpu_job() || !is_in(deal.left, asked(job, view));
    });
    by_deadline(ranked, view);
    const auto first = std::find_if(ranked.begin(), ranked.end(),
                                    [&](JobId job) { return !guests.contains(job); });
    if (first == ranked.end() || view.progress(*first).phase == Phase::running) return;
    make_room(asked(*first, view), guests, deal, view);
  }

  /// Lets the kept jobs keep their sizes, and takes what they hold out of what is left. Returns the
  /// time until the first of them ends; infinite if none runs.
  double keep_sizes(std::span<Wish> kept, Deal& deal, const View& view,
                    const cluster::Ledger& ledger) const {
    double first_s = kForever;
    for (Wish& wish : kept) {
      const std::uint64_t type = type_held(wish.job, view);
      if (type == 0) continue;
      const int gpus = held(wish.job, view);
      if (gpus != asked(wish.job, view).gpus) {
        wish.gpus = gpus;
        wish.gpu_types = type;
      }
      take(deal.left, std::int64_t{gpus} * asked(wish.job, view).gpu_milli, type);
      const double rate = rate_on_type(wish.job, type, deal.vc, view, ledger, gpus);
      if (rate > 0) first_s = std::min(first_s, seconds(work_left(wish.job, view)) / rate);
    }
    return first_s;
  }

  /// Whether a job is elastic where its speed on other numbers of GPUs is known.
  static bool is_open(JobId job, const View& view) {
    return view.speeds != nullptr && view.request(job).max_gpus > 0 &&
           !asked(job, view).is_part() && asked(job, view).nodes <= 1;
  }

  /// Whether some type has as many GPUs left as the job needs.
  static bool may_fit(JobId job, const std::vector<Stock>& left, const View& view) {
    cluster::Demand least = asked(job, view);
    if (is_open(job, view)) least.gpus = trace::sizes_of(view.request(job)).least;
    return is_in(left, least);
  }

  Ask ways_of(JobId job, const std::vector<Stock>& all, VcId vc, const View& view,
              const cluster::Ledger& ledger) const {
    const trace::Request& request = view.request(job);
    const cluster::Demand& demand = asked(job, view);
    Ask made{.job = job, .runs = view.progress(job).phase == Phase::running};
    if (request.deadline != kNoTime) made.due_s = seconds(request.deadline - view.now);
    const auto add = [&](const Stock& on, int gpus) {
      const double rate = rate_on_type(job, on.gpu_type, vc, view, ledger, gpus);
      if (rate <= 0) return;
      const bool stays =
          made.runs && type_held(job, view) == on.gpu_type && held(job, view) == gpus;
      const Duration again = made.runs && !stays ? view.cost(job, {}) : Duration{0};
      const double time_s = std::max(1e-3, seconds(work_left(job, view) + again) / rate);
      const std::int64_t milli = std::int64_t{gpus} * demand.gpu_milli;
      made.ways.push_back({.type = on.gpu_type,
                           .gpus = gpus,
                           .milli = milli,
                           .time_s = time_s,
                           .cost = price_of(on.gpu_type, view) * time_s *
                                   static_cast<double>(milli) / cluster::kWholeGpu});
    };
    for (const Stock& each : all) {
      if ((each.gpu_type & demand.gpu_types) == 0) continue;
      const int per_node = fitting_node(demand, each.gpu_type, vc, ledger);
      const trace::Sizes sizes = is_open(job, view)
                                     ? trace::sizes_of(request)
                                     : trace::Sizes{.least = demand.gpus, .most = demand.gpus};
      for (int gpus = sizes.least; gpus <= std::min(sizes.most, per_node); gpus += sizes.step) {
        if (std::int64_t{gpus} * demand.gpu_milli > each.milli) break;
        add(each, gpus);
      }
    }
    if (!made.ways.empty()) return made;
    // No node has room for it: it goes where the placement finds some, at the price of one type.
    const auto any = std::find_if(all.begin(), all.end(), [&](const Stock& each) {
      return (each.gpu_type & demand.gpu_types) != 0 &&
             each.milli >= std::int64_t{demand.gpus} * demand.gpu_milli;
    });
    if (any != all.end()) add(*any, demand.gpus);
    for (Way& way : made.ways) way.type = demand.gpu_types;
    return made;
  }

  static int held(JobId job, const View& view) {
    int gpus = 0;
    for (const cluster::Grant& grant : view.grants(job)) gpus += grant.count();
    return gpus;
  }

  /// Returns the most GPUs of one node of a type for which it has the cores and memory; 0 if none.
  static int fitting_node(const cluster::Demand& demand, std::uint64_t type, VcId vc,
                          const cluster::Ledger& ledger) {
    int most = 0;
    for (const cluster::Pool& pool : ledger.pools(vc)) {
      if (pool.gpu_type != type || !pool.suits(demand)) continue;
      const cluster::Amount node{pool.gpus_per_node, pool.cpu_milli, pool.memory_mb};
      int fits = 0;
      while (fits < std::min(pool.gpus_per_node, pool.capacity) &&
             node.covers(demand.of(fits + 1))) {
        ++fits;
      }
      most = std::max(most, fits);
    }
    return most;
  }

  void order_rest(VcId vc, std::span<JobId> waiting) const override {
    order_as(lines_.at(vc), waiting);
  }

  GreedySearch search_;
  std::size_t considered_;
  std::map<VcId, std::set<JobId>> guests_;
  std::map<VcId, std::vector<JobId>> lines_;  // jobs that were not kept, by deadline
};

}  // namespace

void register_andreas(Registry& registry) {
  registry.wholes.add(
      {.name = "andreas",
       .summary = "least price of GPUs plus cost of tardiness, by a randomized greedy search",
       .source = "Filippini et al. 2021 (ANDREAS)",
       .traits = {.has = {Trait::reads_run_times, Trait::chooses_gpus, Trait::stops_jobs,
                          Trait::moves_jobs, Trait::resizes_jobs, Trait::leases}},
       .parameters = {number("lease_s", "time between two reallocations", 300, 1, 1e6),
                      number("late_cost",
                             "cost of a second of tardiness, where a GPU-second costs 1", 10, 0,
                             1e9),
                      whole_number("draws", "random repetitions of the greedy choice", 100, 0,
                                   100'000),
                      whole_number("considered", "jobs that choose together", 32, 1, 1000)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Andreas>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told);
      });
}

}  // namespace almanac::policy::whole
