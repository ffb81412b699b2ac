// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lyra: elastic jobs have a base demand, their fewest GPUs, and a flexible one, the others up to
/// their most.
///
///   1 Running jobs keep their base. Waiting jobs get theirs, the one with the least estimated run
///     time first; a job that does not fit lets others pass.
///   2 The rest of the GPUs goes to the flexible demands so that the remaining times of all jobs
///     become shorter by the largest sum: a multiple-choice knapsack, whose items are the numbers
///     of GPUs that a job may have (rules/elastic/best_deal.h).
///
/// A job counts as twice as fast on twice as many GPUs until its first report. Next to a service,
/// `simulate --with` lends and takes back its GPUs (kit/empty_nodes.h).
///
/// Source   Li et al., EuroSys'23 (Lyra), and Aryl, its earlier version: two-phase allocation.
/// Differs  Jobs that are not elastic run in order of arrival. The placement is that of the
///          composition, so base and flexible GPUs of a job are not on nodes of their own. The wait
///          of a wide job has no bound while narrow jobs keep coming.
/// Cost     O(jobs x GPUs x most GPUs of a job) per reallocation, and a fit per new report
#include <algorithm>
#include <numeric>

#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/best_deal.h"

namespace almanac::policy::whole {
namespace {

class Lyra final : public ElasticAllocator {
 public:
  Lyra(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator,
       Duration every)
      : ElasticAllocator(std::move(placement), every, ReportedSpeeds::Pool::of_job,
                         std::move(estimator)) {}

 private:
  void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
            std::vector<Wish>& wishes) override {
    std::vector<std::size_t> line(jobs.size());
    std::iota(line.begin(), line.end(), std::size_t{0});
    const auto rank = [&](std::size_t at) {
      const bool runs = jobs[at].held_gpus > 0;
      return std::pair(!runs, runs ? Duration{0} : work_left(jobs[at].job, view));
    };
    std::stable_sort(line.begin(), line.end(),
                     [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    int left = room.gpus;
    std::vector<const Elastic*> served;
    std::vector<std::vector<double>> worth;
    for (const std::size_t at : line) {
      if (jobs[at].least > left) continue;
      left -= jobs[at].least;
      served.push_back(&jobs[at]);
    }
    for (const Elastic* const job : served) worth.push_back(saved(*job, left, room, view));
    const std::vector<int> more = elastic::best_deal(worth, left);
    for (std::size_t at = 0; at < served.size(); ++at) {
      wishes.push_back(wish_of(*served[at], served[at]->least + more[at], room));
    }
  }

  /// Returns by how many seconds 0, 1, 2 ... GPUs beyond its fewest shorten a job's remaining time.
  std::vector<double> saved(const Elastic& job, int left, const Room& room, const View& view) {
    const auto speed = [&](int gpus) { return speed_on(job, room.nodes_of(gpus), gpus); };
    const int asked_gpus = std::clamp(int{asked(job.job, view).gpus}, job.least, job.most);
    const double work = seconds(work_left(job.job, view)) * speed(asked_gpus);
    const double base_s = work / speed(job.least);
    std::vector<double> made{0};
    for (int more = 1; more <= std::min(left, job.most - job.least); ++more) {
      made.push_back(base_s - work / speed(job.least + more));
    }
    return made;
  }
};

}  // namespace

void register_lyra(Registry& registry) {
  registry.wholes.add(
      {.name = "lyra",
       .summary = "elastic: the fewest GPUs for the shortest jobs first, the rest where they "
                  "shorten remaining times most",
       .source = "Li et al. EuroSys'23 (Lyra)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_training, Trait::stops_jobs,
                          Trait::moves_jobs, Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {number("every_s", "shortest time between two reallocations", 60, 1, 1e6)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Lyra>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator), told.duration("every_s"));
      });
}

}  // namespace almanac::policy::whole
