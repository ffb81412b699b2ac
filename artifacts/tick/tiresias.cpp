// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "tick/free_nodes.h"
#include "tick/policies.h"

namespace almanac::elastic {
namespace {

constexpr std::int64_t kFirstQueue_gpu_s = 57'600;

class Tiresias final : public TickPolicy {
 public:
  std::optional<int> fixed_batch(const TickJob& job) const override { return job.asked_batch; }
  bool learns() const override { return false; }

  std::vector<Shares> allocate(std::int64_t now_s, std::span<const std::size_t> candidates,
                               std::span<const TickState> jobs,
                               const TickOptions& options) override {
    queue_up(now_s, candidates, jobs);
    choose(jobs, options);
    std::map<std::size_t, Shares> held;
    FreeNodes free(options);
    for (const std::size_t job : candidates) {
      if (!followed_[job].runs) continue;
      free.take(jobs[job].shares);
      held[job] = jobs[job].shares;
    }
    for (const std::vector<std::size_t>& queue : queues_) {
      for (const std::size_t job : queue) {
        if (!followed_[job].runs || !held[job].empty()) continue;
        held[job] = free.take_emptiest(jobs[job].job->asked_gpus);
      }
    }
    std::vector<Shares> given;
    for (const std::size_t job : candidates) given.push_back(held[job]);
    return given;
  }

 private:
  struct Followed {
    bool runs = false;
    std::int64_t checked_s = 0;
    std::int64_t executed_s = 0;
  };

  /// Drops what has ended, appends what has come, and moves back what has had its share.
  void queue_up(std::int64_t now_s, std::span<const std::size_t> candidates,
                std::span<const TickState> jobs) {
    const std::set<std::size_t> alive(candidates.begin(), candidates.end());
    for (std::vector<std::size_t>& queue : queues_) {
      std::erase_if(queue, [&](std::size_t job) { return !alive.contains(job); });
    }
    for (const std::size_t job : candidates) {
      if (followed_.try_emplace(job).second) queues_[0].push_back(job);
    }
    for (const std::size_t job : candidates) {
      Followed& each = followed_[job];
      if (each.runs) {
        each.executed_s += now_s - each.checked_s;
        const auto first = std::find(queues_[0].begin(), queues_[0].end(), job);
        if (first != queues_[0].end() &&
            each.executed_s * jobs[job].job->asked_gpus >= kFirstQueue_gpu_s) {
          queues_[0].erase(first);
          queues_[1].push_back(job);
        }
      }
      each.checked_s = now_s;
    }
  }

  /// Which jobs run: in the order of the queues, past those that do not fit.
  void choose(std::span<const TickState> jobs, const TickOptions& options) {
    int left = options.gpus();
    for (const std::vector<std::size_t>& queue : queues_) {
      for (const std::size_t job : queue) {
        const int asked = jobs[job].job->asked_gpus;
        followed_[job].runs = asked <= left;
        if (followed_[job].runs) left -= asked;
      }
    }
  }

  std::array<std::vector<std::size_t>, 2> queues_;
  std::map<std::size_t, Followed> followed_;
};

}  // namespace

std::unique_ptr<TickPolicy> make_tiresias() { return std::make_unique<Tiresias>(); }

}  // namespace almanac::elastic
