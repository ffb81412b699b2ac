// SPDX-License-Identifier: Apache-2.0

/// \file
/// AntMan as Muri's simulator has it: guaranteed jobs with GPUs of their own, and opportunistic
/// ones that run next to them in the stages in which these leave a resource idle.
///
/// Source   Xiao et al., OSDI'20 (AntMan); the simulator of Zhao et al., SIGCOMM'22.

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "rounds/engine.h"
#include "rounds/schedulers.h"
#include "rules/interleave/beside.h"

namespace almanac::rounds {
namespace {

class AntMan final : public Scheduler {
 public:
  explicit AntMan(const Machines& machines)
      : machines_(machines),
        gpus_(static_cast<std::size_t>(machines.nodes) * static_cast<std::size_t>(machines.gpus)) {}

  /// Fault: the published program stops with an error where it merges any but the last two ends.
  Merging merging() const override { return {.ends_s = 1e-4}; }

  void end(Live& job) override {
    for (const std::size_t gpu : held_[&job].gpus) {
      gpus_[gpu].use -= job.job->opportunistic ? kGuest : kHost;
      if (!job.job->opportunistic) gpus_[gpu].host = nullptr;
    }
    held_.erase(&job);
  }

  void plan(double, std::vector<Live*>& live) override {
    const auto key = [](const Live* each) {
      return std::tuple(each->job->opportunistic, each->job->submit, each->index);
    };
    std::stable_sort(live.begin(), live.end(),
                     [&](const Live* one, const Live* other) { return key(one) < key(other); });
    for (Live* each : live) {
      if (each->runs) continue;
      if (each->job->opportunistic) {
        join(*each);
      } else {
        collect(*each);
      }
    }
    for (Live* each : live) {
      if (each->runs && each->job->opportunistic) each->iteration_s = beside_hosts(*each);
    }
  }

 private:
  // How much of a GPU counts as used. The doubles are never cleared, and what rounding leaves of
  // them is part of the order in which guests choose.
  static constexpr double kHost = 0.1;
  static constexpr double kComplete = 0.01;            // of it, once a job has all that it needs
  static constexpr double kTaken = kHost - kComplete;  // before that
  static constexpr double kGuest = 0.9;
  static constexpr double kFull = 0.8;

  struct Gpu {
    double use = 0;
    const Live* host = nullptr;  // the guaranteed job that holds it
  };
  struct Held {
    std::vector<std::size_t> gpus{};
    int node = -1;  // that a job waits for
  };

  std::size_t first(int node) const { return static_cast<std::size_t>(node * machines_.gpus); }
  int without_host(int node) const {
    const auto begin = gpus_.begin() + static_cast<std::ptrdiff_t>(first(node));
    return static_cast<int>(std::count_if(begin, begin + machines_.gpus,
                                          [](const Gpu& gpu) { return gpu.host == nullptr; }));
  }
  /// Holds up to `count` GPUs of a node that no guaranteed job has, lowest-numbered first.
  void hold(Live& job, int node, int count) {
    for (std::size_t gpu = first(node); gpu < first(node + 1) && count > 0; ++gpu) {
      if (gpus_[gpu].host != nullptr) continue;
      gpus_[gpu].host = &job;
      gpus_[gpu].use += kTaken;
      held_[&job].gpus.push_back(gpu);
      --count;
    }
  }

  /// A guaranteed job takes what it can get, and starts when it has all.
  void collect(Live& job) {
    Held& held = held_[&job];
    const auto missing = [&] { return job.job->gpus - static_cast<int>(held.gpus.size()); };
    if (job.job->gpus > machines_.gpus) {
      for (int node = 0; node < machines_.nodes && missing() > 0; ++node) {
        if (without_host(node) == machines_.gpus) hold(job, node, missing());
      }
    } else {
      if (held.node < 0) held.node = choose_node(job.job->gpus);
      hold(job, held.node, missing());
      if (held.gpus.empty()) held.node = -1;
    }
    if (missing() > 0) return;
    for (const std::size_t gpu : held.gpus) gpus_[gpu].use += kComplete;
    job.run_alone();
  }
  /// The first node with enough, else the first of those with the most.
  int choose_node(int gpus) const {
    int most = 0;
    for (int node = 0; node < machines_.nodes; ++node) {
      if (without_host(node) >= gpus) return node;
      if (without_host(node) > without_host(most)) most = node;
    }
    return most;
  }

  /// An opportunistic job starts on the least used GPUs, or not at all.
  void join(Live& job) {
    std::vector<std::size_t> open;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      if (gpus_[gpu].use < kFull) open.push_back(gpu);
    }
    if (open.size() < static_cast<std::size_t>(job.job->gpus)) return;
    std::stable_sort(open.begin(), open.end(), [&](std::size_t one, std::size_t other) {
      return gpus_[one].use < gpus_[other].use;
    });
    open.resize(static_cast<std::size_t>(job.job->gpus));
    for (const std::size_t gpu : open) gpus_[gpu].use += kGuest;
    held_[&job].gpus = std::move(open);
    job.run_alone();
  }

  double beside_hosts(const Live& job) {
    double iteration = job.job->iteration_s;
    for (const std::size_t gpu : held_[&job].gpus) {
      const Live* host = gpus_[gpu].host;
      if (host == nullptr || !host->runs) continue;
      iteration =
          std::max(iteration, interleave::iterations_beside(job.job->stages, host->job->stages) *
                                  host->job->iteration_s);
    }
    return iteration;
  }

  Machines machines_;
  std::vector<Gpu> gpus_;
  std::map<const Live*, Held> held_;
};

}  // namespace

std::unique_ptr<Scheduler> make_antman(const Machines& machines) {
  return std::make_unique<AntMan>(machines);
}

}  // namespace almanac::rounds
