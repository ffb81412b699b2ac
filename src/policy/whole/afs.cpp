// SPDX-License-Identifier: Apache-2.0

/// \file
/// Elastic sharing by marginal gain over a mix of GPU types: GPUs are dealt out one by one, each to
/// the job that is worth it most (kit/tournament.h), anew whenever something happens.
///
/// A job that leaves open on how many GPUs it runs (Request::max_gpus) takes them of one type: of
/// the one that it has, else of that on which it is fastest of those that are left. Any other job
/// gets all that it asks with its first step, or nothing. Where no speeds are known, each runs on
/// what it asks, the shortest first.
///
/// Source   Hwang et al., NSDI'21 (AFS-L), section 4.
/// Differs  The paper's GPUs are alike. Jobs that are to have another number of GPUs restart at the
///          cost that the run says.
/// Cost     O(n g) a decision with n jobs and g GPUs of a virtual cluster.
#include <algorithm>
#include <map>

#include "policy/kit/allocator.h"
#include "policy/kit/tournament.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class Afs final : public Allocator {
 public:
  Afs(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator)
      : Allocator(std::move(placement), std::move(estimator)) {}

 private:
  struct Share {
    JobId job{};
    int gpus = 0;
    std::uint64_t gpu_type = 0;  // one bit; 0 = not chosen
    bool open = true;            // for one more step
  };

  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    std::vector<Stock> left = stock(vc, plan.ledger);
    std::vector<Share> shares;
    for (const JobId job : jobs) shares.push_back({.job = job, .gpu_type = type_held(job, view)});
    std::vector<Contender> contenders;
    std::vector<std::size_t> who;
    for (;;) {
      contenders.clear();
      who.clear();
      for (std::size_t at = 0; at < shares.size(); ++at) {
        Share& share = shares[at];
        if (!share.open) continue;
        const std::uint64_t type = choose_type(share, vc, left, view, plan.ledger);
        if (type == 0) {
          share.open = false;
          continue;
        }
        const int next = share.gpus + step(share, view);
        contenders.push_back({.work = seconds(work_left(share.job, view)),
                              .speed = speed(share.job, share.gpus, type, vc, view, plan.ledger),
                              .next_speed = speed(share.job, next, type, vc, view, plan.ledger)});
        who.push_back(at);
      }
      if (contenders.empty()) break;
      Share& winner = shares[who[win_step(contenders)]];
      winner.gpu_type = choose_type(winner, vc, left, view, plan.ledger);
      cluster::Demand demand = asked(winner.job, view);
      demand.gpus = step(winner, view);
      demand.gpu_types = winner.gpu_type;
      take(left, demand);
      winner.gpus += demand.gpus;
      winner.open = winner.gpus < most(winner.job, view);
    }
    for (const Share& share : shares) {
      if (share.gpus > 0) wishes.push_back({share.job, share.gpus, share.gpu_type});
    }
    for (const JobId job : jobs) {
      if (asked(job, view).is_cpu_job()) wishes.push_back({job});
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
    return request.batch > 0 ? std::min(request.max_gpus, request.batch) : request.max_gpus;
  }
  static int step(const Share& share, const View& view) {
    if (!is_elastic(share.job, view)) return asked(share.job, view).gpus;
    return share.gpus == 0 ? std::max(1, view.request(share.job).min_gpus) : 1;
  }

  /// The type of the job's next GPUs; 0 = there are none for it.
  std::uint64_t choose_type(const Share& share, VcId vc, const std::vector<Stock>& left,
                            const View& view, const cluster::Ledger& ledger) {
    const cluster::Demand& demand = asked(share.job, view);
    if (demand.is_cpu_job()) return 0;
    const std::int64_t wanted = std::int64_t{step(share, view)} * demand.gpu_milli;
    std::uint64_t best = 0;
    double fastest = -1;
    for (const Stock& each : left) {
      if (each.milli < wanted || (each.gpu_type & demand.gpu_types) == 0) continue;
      if (share.gpus > 0 && each.gpu_type != share.gpu_type) continue;
      if (each.gpu_type == share.gpu_type) return each.gpu_type;
      const double rate = speed(share.job, step(share, view), each.gpu_type, vc, view, ledger);
      if (rate <= fastest) continue;
      fastest = rate;
      best = each.gpu_type;
    }
    return best;
  }

  /// Of a job on so many GPUs of a type, on as few nodes as hold them.
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

  std::map<JobId, std::map<std::uint64_t, std::vector<double>>> speeds_;  // by GPUs less one
};

}  // namespace

void register_afs(Registry& registry) {
  registry.wholes.add(
      {.name = "afs",
       .summary = "GPUs one by one to the job that is worth one more most, over all types",
       .source = "Hwang et al. NSDI'21 (AFS)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_speeds, Trait::stops_jobs,
                          Trait::moves_jobs, Trait::resizes_jobs, Trait::chooses_gpus}}},
      [](const Parameters&, const Composition& composition, Host host) {
        return std::make_unique<Afs>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator));
      });
}

}  // namespace almanac::policy::whole
