// SPDX-License-Identifier: Apache-2.0

/// \file
/// Dorm: elastic jobs get equal shares of the GPUs, but only a few of them change at a time.
///
/// In a reallocation, no GPU stays idle that a job could use. Jobs that run keep what they hold
/// while the shares differ little from equal ones: by at most `unfairness` of all GPUs in sum. If
/// they differ more, if a job waits, or if GPUs are idle, the jobs furthest from their equal share
/// change, but at most the fraction `changed` of those that run, rounded up. If a job with an equal
/// share then finds no GPUs, the running jobs that change keep at most their equal share or their
/// minimum, so that GPUs collect for it from one reallocation to the next.
///
/// Source   Sun et al., CLUSTER'17 (Dorm): most utilization, subject to bounds on the loss of
///          fairness and on the number of applications that are adjusted.
/// Differs  The paper solves a mixed-integer program for several resources. Here GPUs are the only
///          resource that is divided, and the jobs that change are chosen greedily. Running jobs
///          keep their minimum, so the wait of a wide job has no bound while narrow jobs keep
///          coming.
/// Cost     O(jobs^2 x GPUs) per reallocation
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class Dorm final : public ElasticAllocator {
 public:
  Dorm(std::unique_ptr<Placement> placement, const Parameters& told)
      : ElasticAllocator(std::move(placement), told.duration("every_s"),
                         ReportedSpeeds::Pool::of_job),
        unfairness_(told.number("unfairness")),
        changed_(told.number("changed")) {}

 private:
  using Counts = std::vector<int>;  // GPUs by job

  void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
            std::vector<Wish>& wishes) override {
    std::vector<std::size_t> all(jobs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    Counts limit;
    for (const Elastic& job : jobs) limit.push_back(job.most);
    const Counts equal = level(jobs, all, limit, room.gpus);

    std::vector<std::size_t> open;  // jobs whose GPUs may change
    std::vector<std::size_t> running;
    int left = room.gpus;
    for (const std::size_t at : all) {
      (jobs[at].held_gpus > 0 ? running : open).push_back(at);
      left -= jobs[at].held_gpus;
    }
    const auto distance = [&](std::size_t at) { return std::abs(jobs[at].held_gpus - equal[at]); };
    std::stable_sort(running.begin(), running.end(),
                     [&](std::size_t a, std::size_t b) { return distance(a) > distance(b); });
    const auto most =
        static_cast<std::size_t>(std::ceil(changed_ * static_cast<double>(running.size())));
    Counts dealt = deal_open(jobs, open, limit, left);
    for (std::size_t next = 0; next < most && !suffices(jobs, dealt, equal, room.gpus); ++next) {
      open.push_back(running[next]);
      left += jobs[running[next]].held_gpus;
      dealt = deal_open(jobs, open, limit, left);
    }
    const auto lacks = [&](std::size_t at) { return dealt[at] == 0 && equal[at] > 0; };
    if (std::any_of(all.begin(), all.end(), lacks)) {
      for (const std::size_t at : running) limit[at] = std::max(jobs[at].least, equal[at]);
      const Counts before = std::exchange(dealt, deal_open(jobs, open, limit, left));
      if (dealt != before) deal_by(view.now + every(), view);
    }
    for (const std::size_t at : all) {
      if (dealt[at] > 0) wishes.push_back(wish_of(jobs[at], dealt[at], room));
    }
  }

  /// Returns what each job has if the `open` ones share `gpus` and the others keep what they hold.
  static Counts deal_open(std::span<const Elastic> jobs, std::vector<std::size_t> open,
                          const Counts& limit, int gpus) {
    std::sort(open.begin(), open.end());
    Counts dealt = level(jobs, open, limit, gpus);
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      if (!std::binary_search(open.begin(), open.end(), at)) dealt[at] = jobs[at].held_gpus;
    }
    return dealt;
  }

  /// Whether every job has GPUs, none is idle for want of a change, and the shares are fair enough.
  bool suffices(std::span<const Elastic> jobs, const Counts& dealt, const Counts& equal,
                int gpus) const {
    int off = 0;
    int used = 0;
    int usable = 0;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      if (dealt[at] == 0 && equal[at] > 0) return false;
      off += std::abs(dealt[at] - equal[at]);
      used += dealt[at];
      usable += equal[at];
    }
    return used >= usable && off <= unfairness_ * gpus;
  }

  /// Returns equal shares of `gpus` for the jobs at `these`, up to `limit`: one GPU at a time to
  /// the job that has fewest. A job for which its minimum is not left gets none.
  static Counts level(std::span<const Elastic> jobs, std::span<const std::size_t> these,
                      const Counts& limit, int gpus) {
    Counts made(jobs.size(), 0);
    for (const std::size_t at : these) {
      if (jobs[at].least > gpus) continue;
      made[at] = jobs[at].least;
      gpus -= made[at];
    }
    while (gpus > 0) {
      std::size_t fewest = jobs.size();
      for (const std::size_t at : these) {
        if (made[at] == 0 || made[at] >= limit[at]) continue;
        if (fewest == jobs.size() || made[at] < made[fewest]) fewest = at;
      }
      if (fewest == jobs.size()) break;
      ++made[fewest];
      --gpus;
    }
    return made;
  }

  double unfairness_;
  double changed_;
};

}  // namespace

void register_dorm(Registry& registry) {
  registry.wholes.add(
      {.name = "dorm",
       .summary = "elastic: equal shares of the GPUs, with few jobs changed at a time",
       .source = "Sun et al. CLUSTER'17 (Dorm)",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {number("every_s", "shortest time between two reallocations", 60, 1, 1e6),
                      number("unfairness",
                             "sum of differences from equal shares that is left as it is, as a "
                             "fraction of the GPUs",
                             0.2, 0, 2),
                      number("changed", "fraction of the running jobs that may change", 0.2, 0,
                             1)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Dorm>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
