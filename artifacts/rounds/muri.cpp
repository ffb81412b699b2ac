// SPDX-License-Identifier: Apache-2.0

/// \file
/// Muri-S and Muri-L: jobs of as many GPUs form groups that take turns on the same GPUs.
///
/// Source   Zhao et al., SIGCOMM'22, sections 4 and 5, and the simulator published with it.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "rounds/blossom.h"
#include "rounds/engine.h"
#include "rounds/schedulers.h"
#include "rules/interleave/groups.h"

namespace almanac::rounds {
namespace {

using interleave::Candidate;
using interleave::Group;
using interleave::GroupsOf;
using interleave::joined;
using interleave::kMaxGroup;
using interleave::stages_of;

/// The best period as the published simulator looks for it: only among orders without a gap, but
/// for two jobs. Of two to four jobs; seconds.
double published_period(std::span<const Stages> jobs) {
  interleave::Order order;
  order.fill(-1);
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(jobs.size());
  std::iota(order.begin(), last, 0);
  double best = std::numeric_limits<double>::infinity();
  do {
    best = std::min(best, interleave::period_of(order, jobs));
  } while (std::next_permutation(order.begin(), last));
  return jobs.size() == 2 ? std::min(best, interleave::opposite_period(jobs[0], jobs[1])) : best;
}

/// Seconds of an iteration, with the rounding of the published simulator.
double published_iteration(const Group& group, std::span<const Candidate> jobs) {
  constexpr std::array kStretch{1.33 / 1.015, 1.5 / 1.015, 1.37 / 1.015};
  if (group.size() == 1) return jobs[group.front()].iteration_s;
  return published_period(stages_of(group, jobs)) * kStretch.at(group.size() - 2);
}

/// Groups as the published simulator sees them: it works each weight out from the left and divides
/// once, and equal groups tie or not by the last bit.
class PublishedWeights {
 public:
  explicit PublishedWeights(std::span<const Candidate> jobs)
      : jobs_(jobs), kinds_(interleave::kinds_of(jobs)) {}
  /// Names the kinds of jobs of a group, in its order: groups of the same name are alike.
  int name(const Group& group) {
    std::vector<int> kinds;
    for (const std::size_t job : group) kinds.push_back(kinds_[job]);
    return names_.try_emplace(std::move(kinds), static_cast<int>(names_.size())).first->second;
  }
  /// Of two groups and their names.
  double weight(const Group& one, int name, const Group& other, int other_name) {
    const auto [known, is_new] = weights_.try_emplace({name, other_name}, 0);
    if (is_new) known->second = weight(joined(one, other));
    return known->second;
  }

 private:
  double weight(const Group& group) const {
    double sum = 0;
    for (const std::size_t job : group) sum += jobs_[job].stages.sum();
    return sum / (published_iteration(group, jobs_) * 4);
  }

  std::span<const Candidate> jobs_;
  std::vector<int> kinds_;
  std::map<std::vector<int>, int> names_;
  std::map<std::pair<int, int>, double> weights_;
};

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
    for (Group& each : published_groups(jobs, machines_.nodes * machines_.gpus)) {
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

/// Merges pairs of `groups`, of which each asks `gpus`; the merged one stands where its later half
/// stood.
std::vector<Group> published_merge(const std::vector<Group>& groups, int gpus,
                                   PublishedWeights& weights, int& excess) {
  OrderedWeights edges(groups.size(), std::vector<double>(groups.size(), 0));
  std::vector<int> names;
  for (const Group& each : groups) names.push_back(weights.name(each));
  for (std::size_t one = 0; one < groups.size(); ++one) {
    for (std::size_t other = 0; other < groups.size(); ++other) {
      if (one == other || groups[one].size() + groups[other].size() > kMaxGroup) continue;
      edges[one][other] = weights.weight(groups[one], names[one], groups[other], names[other]);
    }
  }
  const std::vector<int> mates = published_matching(edges);
  std::vector<Group> merged;
  for (std::size_t at = 0; at < groups.size(); ++at) {
    if (mates[at] < 0) {
      merged.push_back(groups[at]);
      continue;
    }
    const auto mate = static_cast<std::size_t>(mates[at]);
    if (mate > at) continue;
    if (excess > 0) {
      merged.push_back(joined(groups[mate], groups[at]));
      excess -= gpus;
    } else {
      merged.push_back(groups[mate]);
      merged.push_back(groups[at]);
    }
  }
  return merged;
}

}  // namespace

std::vector<Group> published_groups(std::span<const Candidate> jobs, int gpus) {
  std::vector<int> gpus_of;
  for (const Candidate& job : jobs) gpus_of.push_back(job.gpus);
  std::vector<GroupsOf> by_gpus = interleave::single_groups(gpus_of);
  int excess = std::accumulate(gpus_of.begin(), gpus_of.end(), -gpus);
  PublishedWeights weights(jobs);
  std::size_t passes = 0;
  do {
    // A pass changes the order of groups even where it merges none.
    for (auto& [count, groups] : by_gpus) {
      groups = published_merge(groups, count, weights, excess);
    }
  } while (++passes < kMaxGroup && excess > 0);
  return interleave::all_groups(by_gpus);
}

std::unique_ptr<Scheduler> make_muri(const Machines& machines, bool by_remaining) {
  return std::make_unique<Muri>(machines, by_remaining);
}

}  // namespace almanac::rounds
