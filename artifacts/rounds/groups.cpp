// SPDX-License-Identifier: Apache-2.0
#include "rounds/groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "rounds/blossom.h"

namespace almanac::rounds {
namespace {

using interleave::Candidate;
using interleave::Group;
using interleave::kMaxGroup;
using interleave::Stages;

/// The time that an iteration of all `jobs` takes if they follow each other in this order. They
/// stand in the first of four places.
double period_of(std::span<const Stages> jobs) {
  const auto at = [&](std::size_t place) {
    return place % kMaxGroup < jobs.size() ? &jobs[place % kMaxGroup] : nullptr;
  };
  constexpr std::size_t kSlots = 2 * kMaxGroup;
  std::array<double, kSlots + 1> start{};
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    double& next = start[slot + 1];
    if (const Stages* job = at(slot + 1)) next = std::max(next, start[slot] + job->network);
    if (const Stages* job = at(slot + 2)) next = std::max(next, start[slot] + job->compute);
    if (const Stages* job = at(slot + 3); job != nullptr && slot > 0) {
      next = std::max(next, start[slot - 1] + job->load);
    }
    if (slot < kMaxGroup) continue;
    const double cycle = next - start[slot - 3];
    const double before = start[slot] - start[slot - 4];
    if (cycle > 0 && std::abs(cycle - before) <= 1e-3 * std::max(std::abs(cycle), std::abs(before)))
      return cycle;
  }
  return start[kSlots] - start[kSlots - kMaxGroup];
}

/// The least over all orders, and for two jobs of one more in which they face each other.
double best_period(std::span<const Stages> jobs) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  double best = std::numeric_limits<double>::infinity();
  do {
    std::vector<Stages> ordered;
    for (const std::size_t job : order) ordered.push_back(jobs[job]);
    best = std::min(best, period_of(ordered));
  } while (std::next_permutation(order.begin(), order.end()));
  if (jobs.size() != 2) return best;
  const auto others = [](const Stages& job) { return job.compute + job.network; };
  return std::min(
      best, std::max(jobs[0].load, others(jobs[1])) + std::max(jobs[1].load, others(jobs[0])));
}

Group joined(const Group& one, const Group& other) {
  Group both = one;
  both.insert(both.end(), other.begin(), other.end());
  return both;
}

/// Weights of pairs of groups, each worked out once: there are few kinds of jobs, and many jobs.
class Weights {
 public:
  explicit Weights(std::span<const Candidate> jobs) : jobs_(jobs) {
    std::map<std::array<double, 4>, int> kinds;
    for (const Candidate& job : jobs) {
      const Stages& stages = job.stages;
      const std::array<double, 4> times{stages.load, stages.compute, stages.network,
                                        job.iteration_s};
      kinds_.push_back(kinds.try_emplace(times, static_cast<int>(kinds.size())).first->second);
    }
  }
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

/// Merges pairs of `groups`, of which each asks `gpus`; the merged one stands where its later half
/// stood.
std::vector<Group> merge(const std::vector<Group>& groups, int gpus, Weights& weights,
                         int& excess) {
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

double published_iteration(const Group& group, std::span<const Candidate> jobs) {
  constexpr std::array kStretch{1.33 / 1.015, 1.5 / 1.015, 1.37 / 1.015};
  if (group.size() == 1) return jobs[group.front()].iteration_s;
  std::vector<Stages> stages;
  for (const std::size_t job : group) stages.push_back(jobs[job].stages);
  return best_period(stages) * kStretch.at(group.size() - 2);
}

std::vector<Group> form_groups(std::span<const Candidate> jobs, int gpus) {
  std::vector<std::pair<int, std::vector<Group>>> by_count;  // of GPUs, in order of appearance
  int excess = -gpus;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    excess += jobs[job].gpus;
    auto known = std::find_if(by_count.begin(), by_count.end(),
                              [&](const auto& each) { return each.first == jobs[job].gpus; });
    if (known == by_count.end()) known = by_count.insert(known, {jobs[job].gpus, {}});
    known->second.push_back({job});
  }
  Weights weights(jobs);
  std::size_t passes = 0;
  do {
    // A pass changes the order of groups even where it merges none.
    for (auto& [count, groups] : by_count) {
      groups = merge(groups, count, weights, excess);
    }
  } while (++passes < kMaxGroup && excess > 0);
  std::vector<Group> all;
  for (auto& [count, groups] : by_count) all.insert(all.end(), groups.begin(), groups.end());
  return all;
}

}  // namespace almanac::rounds
