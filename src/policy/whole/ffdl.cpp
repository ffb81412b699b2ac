// SPDX-License-Identifier: Apache-2.0

/// \file
/// FfDL's elastic scaling: allocates GPUs for the largest sum of speed-ups of all elastic jobs, by
/// a dynamic program (rules/elastic/best_deal.h). If there are more jobs than GPUs, the last
/// arrivals wait. A speed-up is the estimated speed with the best batch, relative to one GPU. A job
/// has one GPU until its first report, then at most twice the most that it has reported on.
///
/// Source   Saxena et al., MASCOTS'20 (elastic scaling in FfDL), section IV.
/// Differs  The paper knows the scaling and the batch of each job in advance; here they are
///          estimated from its reports.
/// Cost     O(jobs x GPUs x most GPUs of a job) per reallocation, and a fit per new report
#include <algorithm>

#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/best_deal.h"

namespace almanac::policy::whole {
namespace {

/// Worth of a job that should get a GPU and has none.
constexpr double kWorstOfAll = -1e12;

class Ffdl final : public ElasticAllocator {
 public:
  Ffdl(std::unique_ptr<Placement> placement, const Parameters& told)
      : ElasticAllocator(std::move(placement), told.duration("every_s"),
                         ReportedSpeeds::Pool::of_job) {}

 private:
  void deal(std::span<const Elastic> jobs, const Room& room, const View&,
            std::vector<Wish>& wishes) override {
    const auto in_line = jobs.first(std::min(jobs.size(), static_cast<std::size_t>(room.gpus)));
    std::vector<std::vector<double>> worth;
    for (const Elastic& job : in_line) {
      std::vector<double>& own = worth.emplace_back(1, kWorstOfAll);
      const int known = speeds.knows(job.job) ? 2 * speeds.most_gpus(job.job) : 1;
      const int most = std::min({room.gpus, job.most, std::max(known, 1)});
      const double alone = speed_on(job, 1, 1);
      for (int gpus = 1; gpus <= most; ++gpus) {
        own.push_back(alone > 0 ? speed_on(job, room.nodes_of(gpus), gpus) / alone : 0);
      }
    }
    const std::vector<int> gpus = elastic::best_deal(worth, room.gpus);
    for (std::size_t at = 0; at < in_line.size(); ++at) {
      if (gpus[at] > 0) wishes.push_back(wish_of(in_line[at], gpus[at], room));
    }
  }
};

}  // namespace

void register_ffdl(Registry& registry) {
  registry.wholes.add(
      {.name = "ffdl",
       .summary = "elastic: GPUs allocated for the largest total speedup",
       .source = "Saxena et al. MASCOTS'20 (FfDL)",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {number("every_s", "shortest time between two reallocations", 60, 1, 1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Ffdl>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
