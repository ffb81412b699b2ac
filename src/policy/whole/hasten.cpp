// SPDX-License-Identifier: Apache-2.0

/// \file
/// Allocates GPUs to elastic jobs so that they end soon: simulates six allocations until all
/// present jobs have ended, and takes the best (rules/elastic/deal_ahead.h). A job runs with the
/// batch of the best estimated goodput.
///
/// Reports of all jobs of a model make one estimate, so later jobs start with the right one. Where
/// step times on some GPUs were reported, they correct the model. A job reports its own total work.
///
/// Source   Our own; docs/guide/elastic.md compares it with published policies.
/// Cost     some ms per reallocation with 30 jobs, and a fit per new report
#include <algorithm>
#include <cmath>

#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/deal_ahead.h"

namespace almanac::policy::whole {
namespace {

constexpr int kGrowth = 8;               // times the most GPUs reported on, in one step
constexpr double kLeastPartLeft = 0.02;  // of the work of a job that should have ended
// Remaining time of a job of an unknown model: short, so that it starts and reports.
constexpr double kUnknown_s = 300;

class Hasten final : public ElasticAllocator {
 public:
  Hasten(std::unique_ptr<Placement> placement, Duration every)
      : ElasticAllocator(std::move(placement), every, ReportedSpeeds::Pool::of_model) {}

 private:
  void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
            std::vector<Wish>& wishes) override {
    std::vector<elastic::AheadJob> ahead;
    double restart_s = 0;
    for (const Elastic& job : jobs) {
      ahead.push_back(look_at(job, room, view));
      restart_s += job.restart_s / static_cast<double>(jobs.size());
    }
    const std::vector<int> gpus = elastic::deal_ahead(ahead, room.gpus, {.restart_s = restart_s});
    std::vector<Wish> dealt;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      if (gpus[at] > 0) dealt.push_back(wish_of(jobs[at], gpus[at], room));
    }
    std::stable_sort(dealt.begin(), dealt.end(),
                     [](const Wish& a, const Wish& b) { return a.gpus > b.gpus; });
    wishes.insert(wishes.end(), dealt.begin(), dealt.end());
  }

  elastic::AheadJob look_at(const Elastic& job, const Room& room, const View& view) {
    const double alone = speed(job, 1, 1);
    const double left =
        std::max(job.told.total - job.told.progress, kLeastPartLeft * job.told.total);
    const double work_s = left * job.told.batches.initial_batch / alone;
    elastic::AheadJob made{.work_s = speeds.knows(job.job) ? work_s : kUnknown_s,
                           .age_s = seconds(view.now - view.request(job.job).submit),
                           .speeds = {0},
                           .present = job.held_gpus};
    const int known = speeds.knows(job.job) ? speeds.most_gpus(job.job) : 0;
    const int step = trace::size_step(view.request(job.job));
    const int first = step == 1 ? 1 : job.least;
    const int most = std::min({room.gpus, job.most, std::max(kGrowth * known, first)});
    for (int gpus = 1; gpus <= most; ++gpus) {
      const bool is_whole =
          (gpus <= room.per_node || gpus % room.per_node == 0) && gpus % step == 0;
      made.speeds.push_back(is_whole ? speed(job, room.nodes_of(gpus), gpus) / alone : 0);
    }
    // The job may hold more GPUs than it would get now.
    made.present = std::min(made.present, static_cast<int>(made.speeds.size()) - 1);
    if (made.present > 0) made.present_speed = speed(job, job.held_nodes, job.held_gpus) / alone;
    return made;
  }

  double speed(const Elastic& job, int nodes, int gpus) {
    const double correction = speeds.knows(job.job) ? speeds.correction(job.job, nodes, gpus) : 1;
    return speed_on(job, nodes, gpus) * correction;
  }
};

}  // namespace

void register_hasten(Registry& registry) {
  registry.wholes.add(
      {.name = "hasten",
       .summary = "elastic: GPUs allocated for the shortest completion times, by simulating each "
                  "allocation ahead",
       .source = "Almanac (docs/guide/elastic.md)",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {number("every_s", "shortest time between two reallocations", 60, 1, 1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Hasten>(
            almanac::policy::registry().placements.make(composition.placement, host),
            told.duration("every_s"));
      });
}

}  // namespace almanac::policy::whole
