// SPDX-License-Identifier: Apache-2.0

/// \file
/// Elastic sharing by marginal gain over a mix of GPU types: on every event, gives out GPUs one by
/// one, each to the job that gains most (kit/tournament.h).
///
/// An elastic job (Request::max_gpus) uses GPUs of one type: the type it has, or else the available
/// type on which it is fastest. Any other job gets all its GPUs at once or none. Without known
/// speeds, each job runs on the GPUs it requests, the shortest first.
///
/// A job takes the fewest further GPUs that make it faster, in whole copies of its model
/// (trace/sizes.h). GPUs with which no job gets faster stay
/// idle.
///
/// With `lengths=done`, run times are not estimated: a job is believed to have as much work left as
/// it has done, so new jobs count as short ones, and GPUs are given out again every `review_s`.
///
/// Source   Hwang et al., NSDI'21 (AFS-L), section 4. The text of its AFS-P, for unknown lengths,
///          was not available, only that jobs share the processors at first. So do they here: of
///          jobs without GPUs, the one that has done least is next. The rest of the rule is ours,
///          as most jobs that have run long run longer still.
/// Differs  The paper assumes equal GPUs that never slow a job; its public code gives out all GPUs,
///          even at a loss. Here a step of several GPUs counts by its mean gain per GPU. Jobs whose
///          number of GPUs changes restart at the cost that the run defines.
/// Cost     O(n g) per decision with n jobs and g GPUs of a virtual cluster, if speeds rise with
///          each GPU; O(n log n) without elastic jobs
#include <algorithm>
#include <map>
#include <vector>

#include "policy/kit/allocator.h"
#include "policy/kit/quota_deal.h"
#include "policy/kit/tournament.h"
#include "policy/registry.h"
#include "trace/sizes.h"

namespace almanac::policy::whole {
namespace {

constexpr double kLeastGain = 1e-9;  // of a speed: less is rounding

class Afs final : public Allocator {
 public:
  Afs(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator,
      bool by_done, Duration review)
      : Allocator(std::move(placement), std::move(estimator)), by_done_(by_done), review_(review) {}

 private:
  /// Returns the work that a job is believed to have left.
  double work(JobId job, const View& view) const {
    return seconds(by_done_ ? view.worked(job) : work_left(job, view));
  }

  /// What jobs have done changes with time alone, but only while one of them runs.
  void settled(VcId, const View& view, Plan& plan) override {
    if (!by_done_) return;
    const auto runs = [&](JobId job) { return will_run(job, view, plan); };
    if (std::none_of(jobs_.begin(), jobs_.end(), runs)) return;
    if (next_review_ <= view.now) next_review_ = view.now + review_;
    plan.wake(next_review_);
  }

  struct Share {
    JobId job{};
    int claimed = 0;             // GPUs, of quotas: what it holds or gets, if that is more
    std::uint64_t gpu_type = 0;  // one bit; 0 = not chosen
    int gpus = 0;
    bool open = true;  // for one more step
  };
  struct Step {
    int gpus = 0;
    std::uint64_t type = 0;
  };

  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    jobs_.assign(jobs.begin(), jobs.end());
    std::vector<Stock> left = stock(vc, plan.ledger);
    std::vector<Share> shares;
    bool any_elastic = false;
    quotas_.open(plan.quotas);
    for (const JobId job : jobs) {
      shares.push_back(
          {.job = job, .claimed = gpus_held(job, view), .gpu_type = type_held(job, view)});
      any_elastic = any_elastic || is_elastic(job, view);
    }
    any_elastic ? deal_steps(shares, left, vc, view, plan.ledger)
                : deal_all_at_once(shares, left, vc, view, plan.ledger);
    for (const Share& share : shares) {
      if (share.gpus > 0) wishes.push_back({share.job, share.gpus, share.gpu_type});
    }
    for (const JobId job : jobs) {
      if (asked(job, view).is_cpu_job()) wishes.push_back({job});
    }
  }

  /// If each job gets all its GPUs or none, no job has a GPU when it meets another. The shorter job
  /// then wins; among equals the last one.
  void deal_all_at_once(std::vector<Share>& shares, std::vector<Stock>& left, VcId vc,
                        const View& view, const cluster::Ledger& ledger) {
    std::vector<std::pair<double, Share*>> line;
    for (Share& each : shares) line.emplace_back(work(each.job, view), &each);
    std::sort(line.begin(), line.end(), [](const auto& one, const auto& other) {
      return one.first != other.first ? one.first < other.first : one.second > other.second;
    });
    for (const auto& [work, share] : line) {
      const Step step = next_step(*share, vc, left, view, ledger);
      if (step.gpus > 0) give(*share, step, left, view);
    }
  }

  static int gpus_held(JobId job, const View& view) {
    int gpus = 0;
    if (view.progress(job).phase != Phase::running) return gpus;
    for (const cluster::Grant& grant : view.grants(job)) gpus += grant.count();
    return gpus;
  }

  void give(Share& share, const Step& step, std::vector<Stock>& left, const View& view) {
    cluster::Demand demand = asked(share.job, view);
    demand.gpus = step.gpus;
    demand.gpu_types = step.type;
    take(left, demand);
    share.gpu_type = step.type;
    share.gpus += step.gpus;
    quotas_.deal(share.job, share.claimed, share.gpus);
    share.claimed = std::max(share.claimed, share.gpus);
  }

  void deal_steps(std::vector<Share>& shares, std::vector<Stock>& left, VcId vc, const View& view,
                  const cluster::Ledger& ledger) {
    std::vector<Contender> contenders;
    std::vector<std::size_t> who;
    std::vector<Step> steps;
    for (;;) {
      contenders.clear();
      who.clear();
      steps.clear();
      for (std::size_t at = 0; at < shares.size(); ++at) {
        Share& share = shares[at];
        if (!share.open) continue;
        const Step step = next_step(share, vc, left, view, ledger);
        share.open = step.gpus > 0;
        if (!share.open) continue;
        const double now = speed(share.job, share.gpus, step.type, vc, view, ledger);
        const double then = speed(share.job, share.gpus + step.gpus, step.type, vc, view, ledger);
        const double next = share.gpus == 0 ? then : now + (then - now) / step.gpus;
        contenders.push_back({.work = work(share.job, view), .speed = now, .next_speed = next});
        who.push_back(at);
        steps.push_back(step);
      }
      if (contenders.empty()) break;
      const std::size_t won = win_step(contenders);
      Share& winner = shares[who[won]];
      give(winner, steps[won], left, view);
      winner.open = winner.gpus < most(winner.job, view);
    }
  }

  void left(JobId job, const View& view) override {
    if (view.progress(job).phase != Phase::running) speeds_.erase(job);
  }

  static bool is_elastic(JobId job, const View& view) {
    return view.speeds != nullptr && view.request(job).max_gpus > 0 &&
           !asked(job, view).is_cpu_job() && !asked(job, view).is_part();
  }
  static int most(JobId job, const View& view) {
    const trace::Request& request = view.request(job);
    if (!is_elastic(job, view)) return asked(job, view).gpus;
    const int most =
        request.batch > 0 ? std::min(request.max_gpus, request.batch) : request.max_gpus;
    return most / trace::size_step(request) * trace::size_step(request);
  }

  /// Returns the GPUs that a job takes next; 0 if no number of the remaining GPUs makes it faster,
  /// or its quotas have no room for them.
  Step next_step(const Share& share, VcId vc, const std::vector<Stock>& left, const View& view,
                 const cluster::Ledger& ledger) {
    const Step step = share.gpus == 0 ? first_step(share, vc, left, view, ledger)
                                      : further_step(share, vc, left, view, ledger);
    return quotas_.has_room(share.job, share.claimed, share.gpus + step.gpus) ? step : Step{};
  }

  Step first_step(const Share& share, VcId vc, const std::vector<Stock>& left, const View& view,
                  const cluster::Ledger& ledger) {
    const cluster::Demand& demand = asked(share.job, view);
    if (demand.is_cpu_job()) return {};
    const int gpus = is_elastic(share.job, view) ? trace::sizes_of(view.request(share.job)).least
                                                 : int{demand.gpus};
    Step best;
    double fastest = -1;
    for (const Stock& each : left) {
      if (each.milli < std::int64_t{gpus} * demand.gpu_milli) continue;
      if ((each.gpu_type & demand.gpu_types) == 0) continue;
      if (each.gpu_type == share.gpu_type) return {gpus, each.gpu_type};
      const double rate = speed(share.job, gpus, each.gpu_type, vc, view, ledger);
      if (rate <= fastest) continue;
      fastest = rate;
      best = {gpus, each.gpu_type};
    }
    return best;
  }

  Step further_step(const Share& share, VcId vc, const std::vector<Stock>& left, const View& view,
                    const cluster::Ledger& ledger) {
    const auto own = std::find_if(left.begin(), left.end(), [&](const Stock& each) {
      return each.gpu_type == share.gpu_type;
    });
    const auto free = static_cast<int>(own->milli / cluster::kWholeGpu);
    const double now = speed(share.job, share.gpus, share.gpu_type, vc, view, ledger);
    const int end = std::min(most(share.job, view), share.gpus + free);
    const int step = trace::size_step(view.request(share.job));
    for (int gpus = share.gpus + step; gpus <= end; gpus += step) {
      const double then = speed(share.job, gpus, share.gpu_type, vc, view, ledger);
      if (then > now * (1 + kLeastGain)) return {gpus - share.gpus, share.gpu_type};
    }
    return {};
  }

  /// Returns the speed of a job on `gpus` GPUs of a type, on as few nodes as possible.
  double speed(JobId job, int gpus, std::uint64_t type, VcId vc, const View& view,
               const cluster::Ledger& ledger) {
    if (gpus == 0) return 0;
    if (view.speeds == nullptr) return 1;
    std::vector<double>& known = speeds_[job][type];
    while (known.size() < static_cast<std::size_t>(gpus)) {
      known.push_back(rate_on(job, static_cast<int>(known.size()) + 1, type, vc, view, ledger));
    }
    return known[static_cast<std::size_t>(gpus) - 1];
  }

  bool by_done_;
  Duration review_;
  Time next_review_ = Time::min();
  QuotaDeal quotas_;
  std::vector<JobId> jobs_;  // of the virtual cluster that is being decided
  std::map<JobId, std::map<std::uint64_t, std::vector<double>>> speeds_;  // by GPUs less one
};

}  // namespace

void register_afs(Registry& registry) {
  registry.wholes.add(
      {.name = "afs",
       .summary =
           "elastic: gives each GPU to the job that gains most from one more, across all types",
       .source = "Hwang et al. NSDI'21 (AFS)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_speeds, Trait::stops_jobs,
                          Trait::moves_jobs, Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {word("lengths",
                           "work left of a job: estimated, or as much as it has done so far",
                           {"estimated", "done"}),
                      number("review_s", "time between two decisions, with lengths=done", 600, 1,
                             1e6)},
       .adjust_traits =
           [](const Parameters& told, TraitSet& traits) {
             if (told.word("lengths") == "done") traits.remove({Trait::reads_run_times});
           }},
      [](const Parameters& told, const Composition& composition, Host host) {
        const bool by_done = told.word("lengths") == "done";
        return std::make_unique<Afs>(
            almanac::policy::registry().placements.make(composition.placement, host),
            by_done ? nullptr : std::move(host.estimator), by_done, told.duration("review_s"));
      });
}

}  // namespace almanac::policy::whole
