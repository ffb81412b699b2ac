// SPDX-License-Identifier: Apache-2.0

/// \file
/// E-LAS: least attained service first, less what its epochs have brought. At each lease, jobs run
/// in the order of
///
///   GPUs x run time so far x (1 - fraction of the training steps done)
///
/// the smallest first, then in order of arrival. So a new job begins at once, and of jobs with
/// equal service the one that its steps bring further goes on: it will end sooner. No run time is
/// needed, only the steps that jobs report. A job that reports none is ranked by its service alone.
///
/// A job that begins while one before it in line finds no room is a guest, as in whole/gavel.cpp:
/// at the start of a lease it gives way to the first in line, however short it has run.
///
/// Source   Sultana et al., ICPP'20 (E-LAS): the real-time epoch progress rate of jobs, and the
///          service they have attained in time and GPUs.
/// Differs  Only the abstract was available; the product is our reading of it. A step of the log
///          stands for an epoch. The placement is that of the composition; the paper has its own.
/// Cost     O(n log n) per lease with n jobs
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "policy/kit/lease_allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class ELas final : public LeaseAllocator {
 public:
  ELas(std::unique_ptr<Placement> placement, Duration lease)
      : LeaseAllocator(std::move(placement), lease) {}

 private:
  Time stands_in_lease(const Deal&, const View&) const override { return kNever; }

  void deal(Deal& deal, const View& view, Plan&, std::vector<Wish>& wishes) override {
    std::set<JobId>& guests = guests_[deal.vc];
    std::erase_if(guests, [&](JobId job) { return view.progress(job).phase != Phase::running; });
    if (deal.begins && !guests.empty()) make_room_for_first(guests, deal, view);
    const std::vector<Stock> all = deal.left;
    bool is_passed = false;
    for (const JobId job : line(keep(deal.jobs, deal, view, wishes), view)) {
      if (!take(deal.left, job, view)) {
        is_passed = is_passed || is_in(all, asked(job, view));
        continue;
      }
      wishes.push_back({job});
      if (is_passed && view.progress(job).phase == Phase::waiting) guests.insert(job);
    }
  }

  void make_room_for_first(const std::set<JobId>& guests, Deal& deal, const View& view) const {
    std::vector<JobId> all(deal.jobs.begin(), deal.jobs.end());
    std::erase_if(all, [&](JobId job) {
      return asked(job, view).is_cpu_job() || !is_in(deal.left, asked(job, view));
    });
    const std::vector<JobId> ranked = line(all, view);
    if (ranked.empty() || view.progress(ranked.front()).phase == Phase::running) return;
    make_room(asked(ranked.front(), view), guests, deal, view);
  }

  static std::vector<JobId> line(const std::vector<JobId>& jobs, const View& view) {
    std::vector<std::pair<double, JobId>> ranked;
    ranked.reserve(jobs.size());
    for (const JobId job : jobs) ranked.emplace_back(rank(job, view), job);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& one, const auto& other) { return one.first < other.first; });
    std::vector<JobId> made;
    made.reserve(jobs.size());
    for (const auto& [rank, job] : ranked) made.push_back(job);
    return made;
  }

  static double rank(JobId job, const View& view) {
    const double service_s = seconds(view.attained(job)) * asked(job, view).gpus;
    const auto told = view.training(job);
    if (!told || told->total <= 0) return service_s;
    return service_s * (1 - std::clamp(told->progress / told->total, 0.0, 1.0));
  }

  std::map<VcId, std::set<JobId>> guests_;
};

}  // namespace

void register_e_las(Registry& registry) {
  registry.wholes.add(
      {.name = "e_las",
       .summary = "least attained service first, times the fraction of its steps that a job still "
                  "has to do",
       .source = "Sultana et al. ICPP'20",
       .traits = {.has = {Trait::stops_jobs, Trait::leases}},
       .parameters = {number("lease_s", "time between two reallocations", 60, 1, 1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<ELas>(
            almanac::policy::registry().placements.make(composition.placement, host),
            told.duration("lease_s"));
      });
}

}  // namespace almanac::policy::whole
