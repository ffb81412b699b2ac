// SPDX-License-Identifier: Apache-2.0

/// \file
/// Muri-S and Muri-L: jobs of as many GPUs form groups that take turns on the same GPUs.
///
/// Source   Zhao et al., SIGCOMM'22, sections 4 and 5, and the simulator published with it.
#include <algorithm>

#include "interleave/groups.h"
#include "interleave/matching.h"
#include "rounds/engine.h"
#include "rounds/schedulers.h"

namespace almanac::rounds {
namespace {

using interleave::Candidate;
using interleave::Group;
using interleave::group;
using interleave::in_vain;
using interleave::iteration_of;
using interleave::kMaxGroup;

class Muri final : public Scheduler {
 public:
  Muri(const Machines& machines, bool by_remaining)
      : machines_(machines), by_remaining_(by_remaining) {}

  void plan(double, std::vector<Live*>& live) override {
    std::stable_sort(live.begin(), live.end(),
                     [&](const Live* one, const Live* other) { return key(*one) < key(*other); });
    const std::vector<Live*> chosen = choose(live);
    for (Live* each : live) each->runs = false;
    std::vector<Candidate> jobs;
    for (const Live* each : chosen) {
      jobs.push_back({each->job->gpus, each->job->stages, each->job->iteration_s});
    }
    std::vector<Group> groups;
    for (const Group& each : group(jobs, machines_.nodes * machines_.gpus)) {
      if (!in_vain(each, jobs)) {
        groups.push_back(each);
        continue;
      }
      for (const std::size_t job : each) groups.push_back({job});
    }
    // Jobs stand in order of their keys, so the least place of a group is its least key.
    std::sort(groups.begin(), groups.end(), [](const Group& one, const Group& other) {
      return *std::min_element(one.begin(), one.end()) <
             *std::min_element(other.begin(), other.end());
    });
    FreeGpus free(machines_);
    for (const Group& each : groups) {
      if (!free.take(jobs[each.front()].gpus)) continue;
      double overhead = 0;
      for (const std::size_t job : each) overhead += chosen[job]->job->overhead_s;
      for (const std::size_t job : each) chosen[job]->run(iteration_of(each, jobs), overhead);
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

  Machines machines_;
  bool by_remaining_;
};

}  // namespace

std::unique_ptr<Scheduler> make_muri(const Machines& machines, bool by_remaining) {
  return std::make_unique<Muri>(machines, by_remaining);
}

}  // namespace almanac::rounds
