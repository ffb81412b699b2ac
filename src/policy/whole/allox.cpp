// SPDX-License-Identifier: Apache-2.0

/// \file
/// Assigns jobs to GPU types so that the sum of waiting and run times is least: an assignment of
/// jobs to places in the lines of GPUs.
///
/// Lines up the oldest `considered` waiting jobs at the free GPUs. The first job of each line
/// starts; a job may wait for a fast GPU while a slow one is free. Never stops a job. Speeds by
/// type come from Allocator::rate_on_type().
///
/// Source   Le et al., EuroSys'20 (AlloX), section 4.
/// Differs  A job of several GPUs stands in one line, and takes all its GPUs from that type or
///          waits.
/// Cost     O(considered^3 x free GPUs) per decision; at most `considered` free GPUs count per type
#include <algorithm>
#include <numeric>

#include "policy/kit/allocator.h"
#include "policy/registry.h"
#include "rules/timeshare/assignment.h"

namespace almanac::policy::whole {
namespace {

constexpr double kLeastWork_s = 1e-3;

class AlloX final : public Allocator {
 public:
  AlloX(std::unique_ptr<Placement> placement, Host host, int considered)
      : Allocator(std::move(placement), std::move(host.estimator), std::move(host.type_speeds)),
        considered_(static_cast<std::size_t>(considered)) {}

 private:
  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    const std::vector<Stock> all = stock(vc, plan.ledger);
    std::vector<Stock> left = all;
    std::vector<JobId> waiting;
    for (const JobId job : jobs) {
      const bool runs = view.progress(job).phase == Phase::running;
      if (runs || asked(job, view).is_cpu_job()) {
        if (runs) take(left, job, view);
        wishes.push_back({job});
      } else {
        waiting.push_back(job);
      }
    }
    std::vector<int> free;
    for (const Stock& each : left) {
      const auto gpus = static_cast<std::size_t>(each.milli / cluster::kWholeGpu);
      free.push_back(static_cast<int>(std::min(gpus, considered_)));
    }
    waiting.resize(std::min(considered_, waiting.size()));
    const auto may_start = [&](JobId job) { return is_in(left, asked(job, view)); };
    if (std::accumulate(free.begin(), free.end(), 0) == 0 ||
        std::none_of(waiting.begin(), waiting.end(), may_start)) {
      return;
    }
    std::vector<timeshare::Job> line;
    for (const JobId job : waiting) {
      timeshare::Job& made = line.emplace_back();
      for (const Stock& each : all) made.rates.push_back(rate_of(job, each, vc, view, plan.ledger));
      made.steps_left = seconds(work_left(job, view));
      // No work takes as long on a type that will not do as on any.
      const bool any_will_do =
          std::all_of(made.rates.begin(), made.rates.end(), [](double rate) { return rate > 0; });
      if (!any_will_do) made.steps_left = std::max(made.steps_left, kLeastWork_s);
    }
    const timeshare::Line lines = timeshare::least_sum_of_times(line, free);
    for (std::size_t at = 0; at < waiting.size(); ++at) {
      if (!lines.starts[at]) continue;
      cluster::Demand demand = asked(waiting[at], view);
      demand.gpu_types &= left[*lines.starts[at]].gpu_type;
      if (take(left, demand)) wishes.push_back({waiting[at], 0, demand.gpu_types});
    }
  }

  /// Returns 0 if the job can never run there.
  double rate_of(JobId job, const Stock& stock, VcId vc, const View& view,
                 const cluster::Ledger& ledger) const {
    const cluster::Demand& demand = asked(job, view);
    const bool fits = std::int64_t{demand.gpus} * demand.gpu_milli <= stock.milli;
    if ((demand.gpu_types & stock.gpu_type) == 0 || !fits) return 0;
    return rate_on_type(job, stock.gpu_type, vc, view, ledger);
  }

  std::size_t considered_;
};

}  // namespace

void register_allox(Registry& registry) {
  registry.wholes.add(
      {.name = "allox",
       .summary = "assigns jobs to GPU types for the smallest sum of waiting and run times",
       .source = "Le et al. EuroSys'20 (AlloX) §4",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_speeds}},
       .parameters = {whole_number("considered", "oldest jobs considered at once", 32, 1, 1'000)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<AlloX>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told.whole("considered"));
      });
}

}  // namespace almanac::policy::whole
