// SPDX-License-Identifier: Apache-2.0

/// \file
/// FfDL's elastic scaling: the deal of GPUs under which the speed-ups of all elastic jobs together
/// are largest, by a dynamic program (rules/elastic/best_deal.h). Jobs beyond one for each GPU
/// wait, the last that came. A speed-up is the speed that is believed with the best batch beside
/// that on one GPU; until a job has reported anything it has one GPU, then twice the most that it
/// has reported of.
///
/// Source   Saxena et al., MASCOTS'20 (elastic scaling in FfDL), section IV.
/// Differs  The paper knows scaling and batch of each job beforehand; here they are believed from
///          what it has reported.
/// Cost     O(jobs x GPUs x most GPUs of a job) a deal, and a fit for each new report.
#include <algorithm>

#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/best_deal.h"

namespace almanac::policy::whole {
namespace {

/// Of a job that is to have a GPU and has none.
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
