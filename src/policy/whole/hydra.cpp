// SPDX-License-Identifier: Apache-2.0

/// \file
/// Few late jobs and short completion times on several GPU types. Branch and bound lines up waiting
/// jobs at GPUs for the least sum of completion times plus `late_worth` times the sum of tardiness.
///
/// Lines up `considered` waiting jobs together, by deadline, then in order of arrival. The next
/// ones follow while any GPU is free. The first job of each line starts; a job may wait for a fast
/// GPU while a slow one is free. Never stops a job. Speeds by type come from
/// Allocator::rate_on_type().
///
/// Source   Yang et al., IEEE TC 2023 (Hydra), as far as it was available; see
///          rules/timeshare/lines.h.
/// Differs  Run times are estimates, not samples on each type. A job that exceeds its estimate is
///          expected to run a tenth longer. A search ends after a number of steps, not by a clock,
///          and the best lines so far count.
/// Cost     kMostLinings x considered x requested GPUs, for each `considered` jobs while GPUs are
///          free
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "policy/kit/allocator.h"
#include "policy/registry.h"
#include "rules/timeshare/lines.h"

namespace almanac::policy::whole {
namespace {

constexpr double kLonger = 0.1;
constexpr int kMostLinings = 5'000;

class Hydra final : public Allocator {
 public:
  Hydra(std::unique_ptr<Placement> placement, Host host, const Parameters& told)
      : Allocator(std::move(placement), std::move(host.estimator), std::move(host.type_speeds)),
        late_worth_(told.number("late_worth")),
        considered_(static_cast<std::size_t>(told.whole("considered"))) {}

 private:
  using Free = std::vector<std::vector<double>>;  // of each type, when each GPU is free, sorted

  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    std::vector<JobId>& waiting = lines_[vc];
    waiting.clear();
    std::vector<JobId> running;
    for (const JobId job : jobs) {
      const bool runs = view.progress(job).phase == Phase::running;
      if (!runs && !asked(job, view).is_cpu_job()) {
        waiting.push_back(job);
        continue;
      }
      wishes.push_back({job});
      if (runs) running.push_back(job);
    }
    if (waiting.empty()) return;
    by_deadline(waiting, view);
    const std::vector<Stock> all = stock(vc, plan.ledger);
    std::vector<Stock> left = all;
    std::erase_if(running, [&](JobId job) { return !take(left, job, view); });
    // Without an idle GPU no job can start, and nothing is lined up.
    const auto has_idle = [](const Stock& each) { return each.milli >= cluster::kWholeGpu; };
    if (std::none_of(left.begin(), left.end(), has_idle)) return;
    Free free_s(all.size());
    for (const JobId job : running) {
      for (std::size_t type = 0; type < all.size(); ++type) {
        if (all[type].gpu_type != type_held(job, view)) continue;
        const double ends_s = time_left_s(job, type_held(job, view), vc, view, plan.ledger);
        free_s[type].insert(free_s[type].end(), asked(job, view).gpus, ends_s);
      }
    }
    for (std::size_t type = 0; type < all.size(); ++type) {
      // Jobs that hold parts of a GPU are on fewer GPUs than they number.
      const auto gpus = static_cast<std::size_t>(all[type].milli / cluster::kWholeGpu);
      const auto idle = static_cast<std::size_t>(left[type].milli / cluster::kWholeGpu);
      std::sort(free_s[type].begin(), free_s[type].end(), std::greater<>());
      free_s[type].resize(gpus - std::min(gpus, idle));
      free_s[type].resize(gpus, 0.0);
      std::reverse(free_s[type].begin(), free_s[type].end());
    }
    for (std::size_t at = 0; at < waiting.size(); at += considered_) {
      if (std::none_of(free_s.begin(), free_s.end(),
                       [](const auto& type) { return !type.empty() && type.front() <= 0; })) {
        break;
      }
      const std::size_t count = std::min(considered_, waiting.size() - at);
      line_up_jobs(std::span(waiting).subspan(at, count), vc, all, free_s, left, view, plan.ledger,
                   wishes);
    }
  }

  /// Leaves `jobs` in the order in which they should start.
  void line_up_jobs(std::span<JobId> jobs, VcId vc, const std::vector<Stock>& all, Free& free_s,
                    std::vector<Stock>& left, const View& view, const cluster::Ledger& ledger,
                    std::vector<Wish>& wishes) const {
    std::vector<timeshare::Lined> lined;
    for (const JobId job : jobs) {
      const trace::Request& request = view.request(job);
      timeshare::Lined& made = lined.emplace_back();
      made.gpus = asked(job, view).gpus;
      made.age_s = seconds(view.now - request.submit);
      if (request.deadline != kNoTime) made.due_s = seconds(request.deadline - view.now);
      for (const Stock& each : all) {
        made.takes_s.push_back(time_left_s(job, each.gpu_type, vc, view, ledger));
      }
    }
    const timeshare::Lines lines = timeshare::least_late(lined, free_s, late_worth_, kMostLinings);
    std::vector<std::size_t> order(jobs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return lines.places[a].start_s < lines.places[b].start_s;
    });
    const std::vector<JobId> before(jobs.begin(), jobs.end());
    for (std::size_t to = 0; to < order.size(); ++to) {
      const std::size_t at = order[to];
      jobs[to] = before[at];
      const timeshare::Lines::Place& place = lines.places[at];
      if (!std::isfinite(place.start_s)) continue;
      timeshare::stand(free_s[place.type], lined[at], place.type);
      cluster::Demand demand = asked(before[at], view);
      demand.gpu_types &= all[place.type].gpu_type;
      if (place.start_s <= 0 && take(left, demand)) {
        wishes.push_back({before[at], 0, demand.gpu_types});
      }
    }
  }

  void order_rest(VcId vc, std::span<JobId> waiting) const override {
    order_as(lines_.at(vc), waiting);
  }

  /// Returns the remaining time; infinite if the job cannot run there.
  double time_left_s(JobId job, std::uint64_t type, VcId vc, const View& view,
                     const cluster::Ledger& ledger) const {
    const bool accepts = (asked(job, view).gpu_types & type) != 0;
    const double rate = accepts ? rate_on_type(job, type, vc, view, ledger) : 0;
    if (rate <= 0) return std::numeric_limits<double>::infinity();
    const double left_s = seconds(work_left(job, view)) / rate;
    return std::max({1e-3, left_s, left_s > 0 ? 0 : kLonger * seconds(view.attained(job))});
  }

  double late_worth_;
  std::size_t considered_;
  std::map<VcId, std::vector<JobId>> lines_;  // waiting jobs, in the order in which to start them
};

}  // namespace

void register_hydra(Registry& registry) {
  registry.wholes.add(
      {.name = "hydra",
       .summary = "assigns jobs to GPU types for few missed deadlines and short completion times",
       .source = "Yang et al. IEEE TC 2023 (Hydra)",
       .traits = {.has = {Trait::reads_run_times}},
       .parameters = {number("late_worth",
                             "value of a second of tardiness, in seconds of completion time", 10, 0,
                             1e6),
                      whole_number("considered", "jobs considered at once", 8, 1, 16)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Hydra>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told);
      });
}

}  // namespace almanac::policy::whole
