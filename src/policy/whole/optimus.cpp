// SPDX-License-Identifier: Apache-2.0

/// \file
/// Optimus: gives out GPUs one by one, each to the elastic job whose remaining time it shortens
/// most (rules/elastic/marginal_gain.h). A job keeps its requested batch. It reports how much work
/// is left; step times on other GPUs are estimated from its reports. A job has one GPU until its
/// first report.
///
/// Source   Peng et al., EuroSys'18 (Optimus), sections 3 and 4.1.
/// Differs  The paper fits the loss curve to estimate the remaining work; here the job reports its
///          total. There are workers but no parameter servers. The model of step times is that of
///          Pollux.
/// Cost     O(jobs x GPUs) per reallocation, and a fit per new report
#include <algorithm>

#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/marginal_gain.h"

namespace almanac::policy::whole {
namespace {

class Optimus final : public ElasticAllocator {
 public:
  Optimus(std::unique_ptr<Placement> placement, Duration every)
      : ElasticAllocator(std::move(placement), every, ReportedSpeeds::Pool::of_job) {}

 private:
  void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
            std::vector<Wish>& wishes) override {
    std::vector<elastic::GainSeeker> seekers;
    for (const Elastic& job : jobs) seekers.push_back(seeker(job, room, view));
    const std::vector<int> gpus = elastic::deal_by_gain(seekers, room.gpus);
    std::vector<Wish> dealt;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      if (gpus[at] > 0) dealt.push_back({.job = jobs[at].job, .gpus = gpus[at]});
    }
    // Small ones first, as the published simulator places them.
    std::stable_sort(dealt.begin(), dealt.end(),
                     [](const Wish& a, const Wish& b) { return a.gpus < b.gpus; });
    wishes.insert(wishes.end(), dealt.begin(), dealt.end());
  }

  elastic::GainSeeker seeker(const Elastic& job, const Room& room, const View& view) const {
    if (!speeds.knows(job.job)) return {.most_gpus = 1};
    const elastic::BatchLimits limits = job.told.batches;
    const int asked = view.request(job.job).batch;
    const int batch = asked > 0 ? std::min(asked, limits.max_batch) : limits.initial_batch;
    const double gain = elastic::step_gain(speeds.gradient(job.job), batch, limits.initial_batch);
    return {.steps_left = std::max(0.0, job.told.total - job.told.progress) / gain,
            .most_gpus = std::clamp(batch / limits.min_local_batch, 1, job.most),
            .step_s = [this, batch, id = job.job, &room](int gpus) -> std::optional<double> {
              return speeds.batch_step_s(id, room.nodes_of(gpus), gpus, batch);
            }};
  }
};

}  // namespace

void register_optimus(Registry& registry) {
  registry.wholes.add(
      {.name = "optimus",
       .summary = "elastic: gives each GPU to the job whose remaining time it shortens most",
       .source = "Peng et al. EuroSys'18",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {number("every_s", "shortest time between two reallocations", 60, 1, 1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Optimus>(
            almanac::policy::registry().placements.make(composition.placement, host),
            told.duration("every_s"));
      });
}

}  // namespace almanac::policy::whole
