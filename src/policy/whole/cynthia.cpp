// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses the cheapest GPU type and number of GPUs on which a job ends in time, by the price of a
/// GPU of each type (kit/prices.h).
///
/// Serves jobs in order of arrival. An elastic job (Request::max_gpus) may have any number of GPUs
/// in its range; any other job has what it requests, of one type. Of the ways for which there is
/// room and which meet the deadline, the cheapest is taken, the faster one among equals. If no free
/// way is in time, the job waits as long as a way with GPUs in use would still be; then it takes
/// the fastest free way. Running jobs are never stopped or moved, even if prices change. A job that
/// finds no place there, because GPUs are spread out or nodes lack cores or memory, runs on what it
/// requests, anywhere.
///
/// Source   Zheng et al., ICPP'19 (Cynthia), section 4: the cheapest instances that reach the goal
///          in time.
/// Differs  Uses GPUs of a cluster, which may be busy, instead of rented machines with parameter
///          servers. Speeds come from speed models. The remaining time is an estimate; the paper
///          computes it from a goal for the loss.
/// Cost     O(n g t) per decision with n waiting jobs, up to g GPUs each, and t types
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "policy/kit/allocator.h"
#include "policy/kit/prices.h"
#include "policy/registry.h"
#include "trace/sizes.h"

namespace almanac::policy::whole {
namespace {

class Cynthia final : public Allocator {
 public:
  Cynthia(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator)
      : Allocator(std::move(placement), std::move(estimator)) {}

 private:
  struct Way {
    int gpus = 0;
    std::uint64_t gpu_type = 0;
    double time_s = 0;
    double cost = 0;
  };

  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    wakes_ = kNever;
    const std::vector<Stock> all = stock(vc, plan.ledger);
    std::vector<Stock> left = all;
    for (const JobId job : jobs) {
      if (view.progress(job).phase != Phase::running) continue;
      cluster::Demand held = asked(job, view);
      if (!held.is_cpu_job()) {
        held.gpus = 0;
        for (const cluster::Grant& grant : view.grants(job)) held.gpus += grant.count();
        held.gpu_types = type_held(job, view);
        take(left, held);
      }
      wishes.push_back({.job = job, .gpus = held.gpus, .gpu_types = held.gpu_types});
    }
    for (const JobId job : jobs) {
      if (view.progress(job).phase == Phase::running) continue;
      if (asked(job, view).is_cpu_job()) {
        wishes.push_back({job});
        continue;
      }
      if (refused_.contains(job)) {
        if (take(left, job, view)) wishes.push_back({job});
        continue;
      }
      const std::optional<Way> way = choose(job, vc, left, all, view, plan.ledger);
      if (!way) continue;
      cluster::Demand demand = asked(job, view);
      demand.gpus = way->gpus;
      demand.gpu_types = way->gpu_type;
      take(left, demand);
      wishes.push_back({.job = job, .gpus = way->gpus, .gpu_types = way->gpu_type});
      chosen_.push_back(job);
    }
  }

  std::optional<Way> choose(JobId job, VcId vc, const std::vector<Stock>& left,
                            const std::vector<Stock>& all, const View& view,
                            const cluster::Ledger& ledger) {
    const Time deadline = view.request(job).deadline;
    const auto is_in_time = [&](const Way& way) {
      return deadline == kNoTime || way.time_s <= seconds(deadline - view.now);
    };
    const auto is_cheaper = [](const Way& one, const Way& other) {
      return one.cost != other.cost ? one.cost < other.cost : one.time_s < other.time_s;
    };
    const auto is_faster = [](const Way& one, const Way& other) {
      return one.time_s < other.time_s;
    };
    const std::vector<Way> free = ways(job, vc, left, view, ledger);
    std::vector<Way> in_time;
    std::copy_if(free.begin(), free.end(), std::back_inserter(in_time), is_in_time);
    if (!in_time.empty()) return *std::min_element(in_time.begin(), in_time.end(), is_cheaper);
    const std::vector<Way> of_all = ways(job, vc, all, view, ledger);
    if (free.empty()) return std::nullopt;
    const Way fastest = *std::min_element(of_all.begin(), of_all.end(), is_faster);
    if (!is_in_time(fastest)) return *std::min_element(free.begin(), free.end(), is_faster);
    const auto left_ms = Duration{static_cast<std::int64_t>(fastest.time_s * 1e3)};
    wakes_ = std::min(wakes_, std::max(view.now, deadline - left_ms) + Duration{1});
    return std::nullopt;
  }

  /// Returns all ways that fit into a stock.
  std::vector<Way> ways(JobId job, VcId vc, const std::vector<Stock>& stock, const View& view,
                        const cluster::Ledger& ledger) const {
    const cluster::Demand& demand = asked(job, view);
    const trace::Request& request = view.request(job);
    const bool is_open = view.speeds != nullptr && request.max_gpus > 0 && !demand.is_part();
    const int least = is_open ? trace::sizes_of(request).least : demand.gpus;
    const int step = trace::size_step(request);
    const int most = is_open ? request.max_gpus : demand.gpus;
    const double work_s = seconds(work_left(job, view));
    std::vector<Way> made;
    for (const Stock& each : stock) {
      if ((each.gpu_type & demand.gpu_types) == 0) continue;
      const double price = price_of(each.gpu_type, view);
      for (int gpus = least; gpus <= most; gpus += step) {
        if (std::int64_t{gpus} * demand.gpu_milli > each.milli) break;
        const double told =
            view.speeds == nullptr ? 1 : rate_on(job, gpus, each.gpu_type, vc, view, ledger);
        // The speed on nodes that differ is not known: it is as recorded.
        const double time_s = work_s / (told > 0 ? told : 1);
        made.push_back({.gpus = gpus,
                        .gpu_type = each.gpu_type,
                        .time_s = time_s,
                        .cost = price * gpus * time_s});
      }
    }
    return made;
  }

  void settled(VcId, const View& view, Plan& plan) override {
    for (const JobId job : chosen_) {
      if (!will_run(job, view, plan) && refused_.insert(job).second) plan.wake(view.now);
    }
    chosen_.clear();
    if (wakes_ != kNever) plan.wake(wakes_);
  }

  void left(JobId job, const View&) override { refused_.erase(job); }

  std::vector<JobId> chosen_;  // jobs to start
  std::set<JobId> refused_;    // jobs that found no place although there were enough GPUs
  Time wakes_ = kNever;        // when a job that waits for GPUs in use must take others
};

}  // namespace

void register_cynthia(Registry& registry) {
  registry.wholes.add(
      {.name = "cynthia",
       .summary = "cheapest GPU type and number of GPUs that finish a job in time, by price",
       .source = "Zheng et al. ICPP'19 (Cynthia)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_speeds, Trait::reads_signals,
                          Trait::chooses_gpus}}},
      [](const Parameters&, const Composition& composition, Host host) {
        return std::make_unique<Cynthia>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator));
      });
}

}  // namespace almanac::policy::whole
