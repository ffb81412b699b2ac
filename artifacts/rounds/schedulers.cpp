// SPDX-License-Identifier: Apache-2.0

/// \file
/// The schedulers of Muri's simulator that run jobs alone.
#include "rounds/schedulers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "rounds/engine.h"

namespace almanac::rounds {
namespace {

/// Shortest remaining time first; remaining GPU time with `by_gpus` (SRSF).
class ShortestRemaining final : public Scheduler {
 public:
  ShortestRemaining(const Machines& machines, bool by_gpus)
      : machines_(machines), by_gpus_(by_gpus) {}

  void plan(double, std::vector<Live*>& live) override {
    const auto remaining = [&](const Live* each) {
      return each->left * each->job->iteration_s * (by_gpus_ ? each->job->gpus : 1);
    };
    std::stable_sort(live.begin(), live.end(), [&](const Live* one, const Live* other) {
      return remaining(one) < remaining(other);
    });
    FreeGpus free(machines_);
    for (Live* each : live) {
      each->runs = false;
      if (free.take(each->job->gpus)) each->run_alone();
    }
  }

 private:
  Machines machines_;
  bool by_gpus_;
};

/// Least attained GPU time, in three queues; GPUs are counted over the whole cluster.
class Tiresias final : public Scheduler {
 public:
  explicit Tiresias(const Machines& machines) : gpus_(machines.nodes * machines.gpus) {}

  Merging merging() const override { return {.ends = 0}; }
  void arrive(Live& job) override { queues_[0].push_back(&job); }
  void end(Live& job) override {
    for (Queue& queue : queues_) std::erase(queue, &job);
  }
  void plan(double, std::vector<Live*>& live) override {
    for (Live* each : live) {
      if (!each->runs) continue;
      const std::size_t at = queue_of(*each);
      if (at + 1 == queues_.size()) continue;
      if ((each->ran_s + kRounding_s) * each->job->gpus < kEnds[at]) continue;
      std::erase(queues_[at], each);
      queues_[at + 1].push_back(each);
    }
    int free = gpus_;
    for (Queue& queue : queues_) {
      for (Live* each : queue) {
        each->runs = false;
        if (each->job->gpus > free) continue;
        free -= each->job->gpus;
        each->run_alone();
      }
      std::stable_partition(queue.begin(), queue.end(),
                            [](const Live* each) { return each->runs; });
    }
  }
  double next(double now, const std::vector<Live*>& live) const override {
    double at = std::numeric_limits<double>::infinity();
    for (const Live* each : live) {
      const std::size_t queue = queue_of(*each);
      if (!each->runs || queue + 1 == queues_.size()) continue;
      at = std::min(at, std::ceil(kEnds[queue] / each->job->gpus) - each->ran_s + now);
    }
    return at;
  }

 private:
  using Queue = std::vector<Live*>;
  static constexpr std::array kEnds{3'250.0, 7'200.0};  // GPU-s
  /// Times that are no whole seconds add up a little short of an end: without this, the job would
  /// be due for its next queue at the present instant for ever.
  static constexpr double kRounding_s = 1e-6;

  std::size_t queue_of(const Live& job) const {
    std::size_t at = 0;
    while (std::find(queues_[at].begin(), queues_[at].end(), &job) == queues_[at].end()) ++at;
    return at;
  }

  int gpus_;
  std::array<Queue, 3> queues_;
};

}  // namespace

std::unique_ptr<Scheduler> make_scheduler(std::string_view name, const Machines& machines) {
  if (name == "srtf") return std::make_unique<ShortestRemaining>(machines, false);
  if (name == "srsf") return std::make_unique<ShortestRemaining>(machines, true);
  if (name == "tiresias_l") return std::make_unique<Tiresias>(machines);
  if (name == "antman") return make_antman(machines);
  if (name == "muri_s") return make_muri(machines, true);
  if (name == "muri_l") return make_muri(machines, false);
  return nullptr;
}

}  // namespace almanac::rounds
