// SPDX-License-Identifier: Apache-2.0

/// \file
/// Completion times of every job under Tiresias in Pollux's simulator.
///
/// Source   Gu et al., NSDI'19; Qiao et al., OSDI'21, artifact: simulator.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "reproduce/pollux_runs.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_tiresias(Recipes& registry);

namespace {

using pollux::Job;

/// Two queues by attained service, whole GPUs by count, placed where most are free.
class Tiresias {
 public:
  void decide(double now, std::span<Job* const> present) {
    const std::set<Job*> here(present.begin(), present.end());
    for (auto& queue : queues_) {
      std::erase_if(queue, [&](Job* job) { return !here.contains(job); });
    }
    for (Job* const job : present) {
      const auto [found, fresh] = known_.try_emplace(job, State{.checked = now});
      if (fresh) queues_[0].push_back(job);
      State& state = found->second;
      if (state.runs) state.executed += now - state.checked;
      state.checked = now;
      if (!state.runs || state.queue > 0 || state.executed * job->gpus < kThreshold) continue;
      state.queue = 1;
      std::erase(queues_[0], job);
      queues_[1].push_back(job);
    }
    int left = pollux::kGpus;
    for (const auto& queue : queues_) {
      for (Job* const job : queue) {
        State& state = known_.at(job);
        state.runs = job->gpus <= left;
        if (state.runs) {
          left -= job->gpus;
        } else {
          job->nodes.clear();
        }
      }
    }
    std::vector<int> free = pollux::free_gpus(present);
    for (const auto& queue : queues_) {
      for (Job* const job : queue) {
        if (known_.at(job).runs && job->nodes.empty()) job->nodes = pollux::take(free, job->gpus);
      }
    }
  }

 private:
  static constexpr double kThreshold = 57'600;  // GPU seconds
  struct State {
    double checked = 0;
    double executed = 0;
    int queue = 0;
    bool runs = false;
  };
  std::vector<Job*> queues_[2];
  std::map<Job*, State> known_;
};

}  // namespace

void register_tiresias(Recipes& registry) {
  registry.add({.name = "tiresias",
                .summary = "Completion times under Tiresias in Pollux's simulator, job by job",
                .paper = "Gu et al., NSDI'19; Qiao et al., OSDI'21, artifact",
                .needs = pollux::needs(),
                .make = [](Bench& bench) {
                  pollux::compare_runs(bench, "tiresias", [] {
                    const auto policy = std::make_shared<Tiresias>();
                    return [policy](double now, std::span<Job* const> present) {
                      policy->decide(now, present);
                    };
                  });
                }});
}

}  // namespace almanac::reproduce
