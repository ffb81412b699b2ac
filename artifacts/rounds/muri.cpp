// SPDX-License-Identifier: Apache-2.0

/// \file
/// Muri-S and Muri-L: jobs of as many GPUs form groups that take turns on the same GPUs.
///
/// Source   Zhao et al., SIGCOMM'22, sections 4 and 5, and the simulator published with it.
#include <algorithm>
#include <map>
#include <utility>

#include "rounds/engine.h"
#include "rounds/groups.h"
#include "rounds/schedulers.h"

namespace almanac::rounds {
namespace {

using interleave::Candidate;
using interleave::Group;
using interleave::kMaxGroup;

class Muri final : public Scheduler {
 public:
  Muri(const Machines& machines, bool by_remaining)
      : machines_(machines), by_remaining_(by_remaining) {}

  Merging merging() const override { return {.arrival_s = 1e-4}; }

  void plan(double, std::vector<Live*>& live) override {
    std::stable_sort(live.begin(), live.end(),
                     [&](const Live* one, const Live* other) { return key(*one) < key(*other); });
    const std::vector<Live*> chosen = choose(live);
    std::vector<Candidate> jobs;
    for (const Live* each : chosen) {
      jobs.push_back({each->job->gpus, each->job->stages, each->job->iteration_s});
    }
    const std::vector<Group> groups = by_key(chosen, jobs);
    FreeGpus free(machines_);
    std::map<const Live*, const Group*> group_of;
    for (const Group& each : groups) {
      if (!free.take(jobs[each.front()].gpus)) continue;
      for (const std::size_t job : each) group_of[chosen[job]] = &each;
    }
    // Placed again, the largest first. Fault: that order stays and is what breaks ties of the keys
    // at the next event.
    std::stable_sort(live.begin(), live.end(), [](const Live* one, const Live* other) {
      return one->job->gpus > other->job->gpus;
    });
    free = FreeGpus(machines_);
    std::map<const Group*, bool> is_placed;
    for (Live* each : live) {
      each->runs = false;
      const auto found = group_of.find(each);
      if (found == group_of.end()) continue;
      const Group& group = *found->second;
      bool& placed = is_placed[&group];
      if (!placed) placed = free.take(each->job->gpus);
      if (!placed) continue;
      double overhead = 0;
      for (const std::size_t job : group) overhead += chosen[job]->job->overhead_s;
      each->run(published_iteration(group, jobs), overhead);
    }
  }

 private:
  double key(const Live& each) const {
    const Job& job = *each.job;
    if (!by_remaining_) return each.ran_s * job.gpus;
    return (each.ran_s > 0 ? each.left * job.iteration_s : job.duration_s) * job.gpus;
  }
  /// The jobs that are to run, if up to four share what one of them needs.
  std::vector<Live*> choose(const std::vector<Live*>& live) const {
    std::vector<char> marked(live.size(), 0);
    FreeGpus free(machines_);
    for (std::size_t at = 0; at < live.size(); ++at) {
      if (marked[at] != 0 || !free.take(live[at]->job->gpus)) continue;
      std::size_t count = 0;
      for (std::size_t other = at; other < live.size() && count < kMaxGroup; ++other) {
        if (marked[other] != 0 || live[other]->job->gpus != live[at]->job->gpus) continue;
        marked[other] = 1;
        ++count;
      }
    }
    std::vector<Live*> chosen;
    for (std::size_t at = 0; at < live.size(); ++at) {
      if (marked[at] != 0) chosen.push_back(live[at]);
    }
    return chosen;
  }
  /// Groups in order of their least key, without those that are in vain.
  std::vector<Group> by_key(const std::vector<Live*>& chosen,
                            std::span<const Candidate> jobs) const {
    std::vector<std::pair<double, Group>> keyed;
    for (Group& each : form_groups(jobs, machines_.nodes * machines_.gpus)) {
      double alone = 0;
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t job : each) {
        alone += jobs[job].iteration_s;
        least = std::min(least, key(*chosen[job]));
      }
      if (published_iteration(each, jobs) / alone > 1) {
        for (const std::size_t job : each) keyed.push_back({key(*chosen[job]), {job}});
      } else {
        keyed.push_back({least, std::move(each)});
      }
    }
    std::stable_sort(keyed.begin(), keyed.end(),
                     [](const auto& one, const auto& other) { return one.first < other.first; });
    std::vector<Group> groups;
    for (auto& [least, group] : keyed) groups.push_back(std::move(group));
    return groups;
  }

  Machines machines_;
  bool by_remaining_;
};

}  // namespace

std::unique_ptr<Scheduler> make_muri(const Machines& machines, bool by_remaining) {
  return std::make_unique<Muri>(machines, by_remaining);
}

}  // namespace almanac::rounds
