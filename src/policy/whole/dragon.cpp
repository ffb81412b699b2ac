// SPDX-License-Identifier: Apache-2.0

/// \file
/// Dragon: jobs start on their fewest GPUs and scale with the load. Jobs are considered in order of
/// arrival, and one that does not fit lets others pass. Once a job has waited for `patience_s`,
/// running jobs shrink towards their minimum until it fits, the job with most GPUs above its
/// minimum first; none shrinks if the job would not fit even so. Free GPUs go to the job with the
/// fewest, unless a job waits that would fit if others shrank.
///
/// Each job has its GPUs all at once, on as few nodes as possible.
///
/// Source   Lin, Yeh and Chou, CLOSER'19 (Dragon): gang scheduling, locality, scaling by load.
/// Differs  The paper scales up once GPUs have been idle for a while; here GPUs are reallocated at
///          most once in `every_s`. No GPUs are kept free for a wide job: while narrow jobs keep
///          coming, its wait has no bound.
/// Cost     O(jobs x GPUs) per reallocation
#include <algorithm>
#include <vector>

#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class Dragon final : public ElasticAllocator {
 public:
  Dragon(std::unique_ptr<Placement> placement, const Parameters& told)
      : ElasticAllocator(std::move(placement), told.duration("every_s"),
                         ReportedSpeeds::Pool::of_job),
        patience_(told.duration("patience_s")) {}

 private:
  void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
            std::vector<Wish>& wishes) override {
    std::vector<int> gpus;
    int free = room.gpus;
    for (const Elastic& job : jobs) {
      gpus.push_back(job.held_gpus);
      free -= job.held_gpus;
    }
    bool shrinks_soon = false;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      const Elastic& job = jobs[at];
      if (gpus[at] > 0) continue;
      if (job.least > free) {
        if (job.least > free + spare(jobs, gpus)) continue;
        const Time impatient = view.progress(job.job).since + patience_;
        if (impatient > view.now) {
          shrinks_soon = true;
          deal_by(impatient, view);
          continue;
        }
        shrink(jobs, job.least, gpus, free);
      }
      gpus[at] = job.least;
      free -= job.least;
    }
    if (!shrinks_soon) grow(jobs, gpus, free);
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      if (gpus[at] > 0) wishes.push_back(wish_of(jobs[at], gpus[at], room));
    }
  }

  /// Returns how many GPUs jobs have above their minimum, all together.
  static int spare(std::span<const Elastic> jobs, const std::vector<int>& gpus) {
    int sum = 0;
    for (std::size_t at = 0; at < jobs.size(); ++at) sum += std::max(0, gpus[at] - jobs[at].least);
    return sum;
  }

  /// Takes GPUs from jobs that have more than their minimum until `wanted` are free.
  static void shrink(std::span<const Elastic> jobs, int wanted, std::vector<int>& gpus, int& free) {
    while (free < wanted) {
      std::size_t widest = jobs.size();
      int most = 0;
      for (std::size_t at = 0; at < jobs.size(); ++at) {
        if (gpus[at] - jobs[at].least <= most) continue;
        most = gpus[at] - jobs[at].least;
        widest = at;
      }
      if (widest == jobs.size()) return;
      --gpus[widest];
      ++free;
    }
  }

  static void grow(std::span<const Elastic> jobs, std::vector<int>& gpus, int& free) {
    while (free > 0) {
      std::size_t fewest = jobs.size();
      for (std::size_t at = 0; at < jobs.size(); ++at) {
        if (gpus[at] == 0 || gpus[at] >= jobs[at].most) continue;
        if (fewest == jobs.size() || gpus[at] < gpus[fewest]) fewest = at;
      }
      if (fewest == jobs.size()) return;
      ++gpus[fewest];
      --free;
    }
  }

  Duration patience_;
};

}  // namespace

void register_dragon(Registry& registry) {
  registry.wholes.add(
      {.name = "dragon",
       .summary =
           "elastic: jobs shrink for one that has waited for long and so finds room, and grow "
           "otherwise",
       .source = "Lin et al. CLOSER'19 (Dragon)",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {number("every_s", "shortest time between two reallocations", 60, 1, 1e6),
                      number("patience_s", "how long a job waits until others shrink for it", 0, 0,
                             1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Dragon>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
