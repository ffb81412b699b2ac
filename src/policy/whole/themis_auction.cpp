// SPDX-License-Identifier: Apache-2.0

/// \file
/// Themis' auction between apps: the trials of a sweep (Request::group) are one app, any other job
/// is an app of its own.
///
/// An app's rho is its time from submission to its expected end on an equal share of the GPUs,
/// relative to its time on that share from the start. At each lease, and whenever GPUs become free,
/// the fraction 1 - `left_out` of the apps with the largest rho bid. A bid states the app's 1 / rho
/// for each number of GPUs that it could hold from now on. The auction maximizes the product of the
/// bids (rules/elastic/best_deal.h). Each winner then pays: it keeps the fraction of its GPUs that
/// is the product of the other bids with it, divided by the product without it, in whole trials and
/// at least one. GPUs that are left go to the apps that could not bid, then to the bidders, one
/// trial at a time, the worst off first. Trials of a sweep thus compete as one app, however many
/// they are.
///
/// Source   Mahajan et al., NSDI'20 (Themis), sections 4 and 5.
/// Differs  The policy computes the bids; apps do not report them. A job gets all the GPUs that it
///          requests or none, so payments are whole trials, and that no app gains by a wrong bid is
///          not claimed. Bids count GPUs, not their places or
///          types. The paper gives leftover GPUs to apps at random. No GPUs are kept free for a
///          wide job: while narrow jobs keep coming, its wait has no bound.
/// Cost     O(b^2 g m) per decision with b bidders, g free GPUs and at most m GPUs of an app; O(b g
///          m) if no bidder wins several trials
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "policy/kit/lease_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/best_deal.h"

namespace almanac::policy::whole {
namespace {

/// Logarithm of the bid of an app without GPUs, which would never end.
constexpr double kNothing = -1e6;
constexpr double kRounding = 1e-9;  // of GPUs

class ThemisAuction final : public LeaseAllocator {
 public:
  ThemisAuction(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator,
                const Parameters& told)
      : LeaseAllocator(std::move(placement), told.duration("lease_s"), std::move(estimator)),
        left_out_(told.number("left_out")) {}

 private:
  struct App {
    std::vector<JobId> open{};  // trials without GPUs so far, in order of arrival
    Time came = kNever;
    int held = 0;      // GPUs
    int most = 0;      // GPUs that all its trials request
    double left = 0;   // GPU-seconds
    double total = 0;  // GPU-seconds, with those done
    double rho = 0;
  };

  Time stands_in_lease(const Deal&, const View&) const override { return kNever; }

  void deal(Deal& deal, const View& view, Plan&, std::vector<Wish>& wishes) override {
    double gpus = 0;
    for (const Stock& each : deal.left) gpus += each.gpus();
    std::vector<App> apps = apps_of(keep(deal.jobs, deal, view, wishes), deal, gpus, view);
    const auto bidders = static_cast<std::size_t>(
        std::ceil((1 - left_out_) * static_cast<double>(apps.size()) - kRounding));
    const std::span all(apps);
    auction(all.first(bidders), deal, view, wishes);
    deal_out(all.subspan(bidders), deal, view, wishes);
    deal_out(all.first(bidders), deal, view, wishes);
  }

  /// Returns the apps with jobs that are not kept, the worst off first.
  std::vector<App> apps_of(std::span<const JobId> open, const Deal& deal, double gpus,
                           const View& view) const {
    std::map<std::pair<NameId, JobId>, App> known;
    const auto app_of = [&](JobId job) -> App& {
      const NameId group = view.request(job).group;
      return known[{group, group == kNoName ? job : kNoJob}];
    };
    for (const JobId job : deal.jobs) {
      if (asked(job, view).is_cpu_job()) continue;
      const int own = asked(job, view).gpus;
      App& app = app_of(job);
      const double left_s = std::max(1e-3, seconds(work_left(job, view)));
      app.came = std::min(app.came, view.request(job).submit);
      app.held += own;
      app.most += own;
      app.left += own * left_s;
      app.total += own * (left_s + seconds(view.worked(job)));
    }
    for (const JobId job : open) {
      App& app = app_of(job);
      app.open.push_back(job);
      app.held -= asked(job, view).gpus;
    }
    std::vector<App> apps;
    for (auto& [name, app] : known) {
      for (const JobId job : view.group(name.first)) {
        app.came = std::min(app.came, view.request(job).submit);
        if (view.progress(job).phase != Phase::ended) continue;
        app.total += asked(job, view).gpus * seconds(view.worked(job));
      }
      const double share = std::clamp(gpus / static_cast<double>(known.size()), 1.0,
                                      std::max(1.0, static_cast<double>(app.most)));
      app.rho = (seconds(view.now - app.came) + app.left / share) / (app.total / share);
      if (!app.open.empty()) apps.push_back(std::move(app));
    }
    std::stable_sort(apps.begin(), apps.end(), [](const App& one, const App& other) {
      return one.rho != other.rho ? one.rho > other.rho : one.came < other.came;
    });
    return apps;
  }

  /// Returns the logarithm of an app's bid for 0, 1, 2 ... further GPUs, up to `free`.
  static std::vector<double> bid(const App& app, int free, const View& view) {
    std::vector<double> made;
    const double age_s = seconds(view.now - app.came);
    for (int gpus = 0; gpus <= std::min(free, app.most - app.held); ++gpus) {
      const int used = app.held + gpus_of(first_trials(app, gpus, view), view);
      made.push_back(used == 0 ? kNothing : -std::log(age_s + app.left / used));
    }
    return made;
  }

  /// Returns those of the app's open trials that fit on `gpus` GPUs, the first come first.
  static std::vector<JobId> first_trials(const App& app, int gpus, const View& view) {
    std::vector<JobId> made;
    for (const JobId job : app.open) {
      if (asked(job, view).gpus > gpus) continue;
      gpus -= asked(job, view).gpus;
      made.push_back(job);
    }
    return made;
  }
  static int gpus_of(std::span<const JobId> jobs, const View& view) {
    int gpus = 0;
    for (const JobId job : jobs) gpus += asked(job, view).gpus;
    return gpus;
  }

  void auction(std::span<App> apps, Deal& deal, const View& view, std::vector<Wish>& wishes) {
    double free = 0;
    for (const Stock& each : deal.left) free += each.gpus();
    const int gpus = static_cast<int>(free + kRounding);
    std::vector<std::vector<double>> bids;
    for (const App& app : apps) bids.push_back(bid(app, gpus, view));
    const std::vector<int> won = elastic::best_deal(bids, gpus);
    for (std::size_t at = 0; at < apps.size(); ++at) {
      std::vector<JobId> trials = first_trials(apps[at], won[at], view);
      if (trials.size() > 1) {
        const double kept = won[at] * kept_fraction(at, bids, won, gpus);
        while (trials.size() > 1 && gpus_of(trials, view) > kept + kRounding) trials.pop_back();
      }
      for (const JobId job : trials) run(apps[at], job, deal, view, wishes);
    }
  }

  /// Returns the product of the bids of the others, divided by the product if app `at` had not bid.
  static double kept_fraction(std::size_t at, std::vector<std::vector<double>> bids,
                              const std::vector<int>& won, int gpus) {
    double with = 0;
    double without = 0;
    bids[at].resize(1);
    const std::vector<int> then = elastic::best_deal(bids, gpus);
    for (std::size_t other = 0; other < bids.size(); ++other) {
      if (other == at) continue;
      with += bids[other][static_cast<std::size_t>(won[other])];
      without += bids[other][static_cast<std::size_t>(then[other])];
    }
    return std::exp(with - without);
  }

  /// Gives what is left to the apps in turn, a trial each, until none of their trials fits.
  static void deal_out(std::span<App> apps, Deal& deal, const View& view,
                       std::vector<Wish>& wishes) {
    for (bool any = true; any;) {
      any = false;
      for (App& app : apps) {
        const std::vector<JobId> open = app.open;
        any = std::any_of(open.begin(), open.end(),
                          [&](JobId job) { return run(app, job, deal, view, wishes); }) ||
              any;
      }
    }
  }

  static bool run(App& app, JobId job, Deal& deal, const View& view, std::vector<Wish>& wishes) {
    if (!take(deal.left, job, view)) return false;
    wishes.push_back({job});
    std::erase(app.open, job);
    return true;
  }

  double left_out_;
};

}  // namespace

void register_themis_auction(Registry& registry) {
  registry.wholes.add(
      {.name = "themis_auction",
       .summary = "finish-time fairness between sweeps and single jobs: those furthest behind bid "
                  "for GPUs and pay with a part of what they win",
       .source = "Mahajan et al. NSDI'20 (Themis) §4-5",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_groups, Trait::stops_jobs,
                          Trait::leases}},
       .parameters = {number("lease_s", "time between two reallocations", 1'200, 1, 1e6),
                      number("left_out", "fraction of the apps, the best-off, that may not bid",
                             0.8, 0, 1)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<ThemisAuction>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator), told);
      });
}

}  // namespace almanac::policy::whole
