// SPDX-License-Identifier: Apache-2.0

/// \file
/// Elastic Tiresias: queues by attained GPU time choose the elastic jobs that run, and spare GPUs
/// go where they add the most speed.
///
/// Jobs are in queues by attained GPU time, in order of arrival within a queue. Each gets what it
/// requests while there is room. If more than `crowd` jobs would wait, jobs beyond the first queue
/// shrink to one GPU. Spare GPUs go one by one to the job whose speed, relative to one GPU, grows
/// most.
///
/// Source   Gu et al., NSDI'19 (Tiresias), with elastic jobs as in the public scheduler Voda.
/// Differs  Speeds are estimated from reports; a job without reports gets no more than it requests.
///          A job changes its queue at the first reallocation after it reaches the limit.
/// Cost     O(jobs x GPUs) per reallocation, and a fit per new report
#include <algorithm>
#include <map>

#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class ElasticTiresias final : public ElasticAllocator {
 public:
  ElasticTiresias(std::unique_ptr<Placement> placement, const Parameters& told)
      : ElasticAllocator(std::move(placement), told.duration("every_s"),
                         ReportedSpeeds::Pool::of_job),
        limits_gpu_s_(told.numbers("queues_gpu_s")),
        crowd_(static_cast<std::size_t>(told.whole("crowd"))) {}

 private:
  struct Share {
    const Elastic* job = nullptr;
    std::size_t queue = 0;
    int gpus = 0;
  };
  /// Service of a job up to the last reallocation.
  struct Service {
    double gpu_s = 0;
    Duration attained{};
  };

  void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
            std::vector<Wish>& wishes) override {
    std::erase_if(services_, [&](const auto& each) {
      const Phase phase = view.progress(each.first).phase;
      return phase != Phase::running && phase != Phase::waiting;
    });
    std::vector<Share> line;
    for (const Elastic& job : jobs) {
      const auto limit =
          std::upper_bound(limits_gpu_s_.begin(), limits_gpu_s_.end(), served(job, view));
      line.push_back({&job, static_cast<std::size_t>(limit - limits_gpu_s_.begin())});
    }
    std::stable_sort(line.begin(), line.end(),
                     [](const Share& a, const Share& b) { return a.queue < b.queue; });
    int left = hand_out(line, room.gpus, false, view);
    const auto waiting =
        std::count_if(line.begin(), line.end(), [](const Share& each) { return each.gpus == 0; });
    if (static_cast<std::size_t>(waiting) > crowd_) left = hand_out(line, room.gpus, true, view);
    while (left > 0 && give_one(line, room)) --left;
    for (const Share& each : line) {
      if (each.gpus > 0) wishes.push_back(wish_of(*each.job, each.gpus, room));
    }
  }

  double served(const Elastic& job, const View& view) {
    Service& service = services_[job.job];
    const Duration attained = view.attained(job.job);
    // What it holds now it has held since the last deal.
    service.gpu_s += seconds(attained - service.attained) * std::max(1, job.held_gpus);
    service.attained = attained;
    return service.gpu_s;
  }

  /// Returns how many of `gpus` are left.
  static int hand_out(std::vector<Share>& line, int gpus, bool cuts, const View& view) {
    for (Share& each : line) {
      const int asked_gpus = std::clamp(view.request(each.job->job).gpus, 1, each.job->most);
      const int wanted = cuts && each.queue > 0 ? 1 : asked_gpus;
      each.gpus = wanted <= gpus ? wanted : 0;
      gpus -= each.gpus;
    }
    return gpus;
  }

  bool give_one(std::vector<Share>& line, const Room& room) {
    Share* best = nullptr;
    double most = 0;
    for (Share& each : line) {
      const Elastic& job = *each.job;
      if (each.gpus == 0 || each.gpus >= job.most || !speeds.knows(job.job)) continue;
      const double now = speed_on(job, room.nodes_of(each.gpus), each.gpus);
      const double next = speed_on(job, room.nodes_of(each.gpus + 1), each.gpus + 1);
      const double gain = (next - now) / speed_on(job, 1, 1);
      if (gain <= most) continue;
      most = gain;
      best = &each;
    }
    if (best != nullptr) ++best->gpus;
    return best != nullptr;
  }

  Values limits_gpu_s_;
  std::size_t crowd_;
  std::map<JobId, Service> services_;
};

}  // namespace

void register_elastic_tiresias(Registry& registry) {
  registry.wholes.add(
      {.name = "elastic_tiresias",
       .summary = "elastic: least attained service (GPU time) first, in queues; spare GPUs go "
                  "where they add the most speed",
       .source = "Gu et al. NSDI'19; Voda",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters =
           {numbers("queues_gpu_s", "attained GPU time at which a job leaves each queue",
                    {3250, 7200}, 0, 1e15),
            whole_number(
                "crowd",
                "number of waiting jobs above which jobs beyond the first queue shrink to one GPU",
                10, 0, 1'000'000),
            number("every_s", "shortest time between two reallocations", 60, 1, 1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<ElasticTiresias>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
