// SPDX-License-Identifier: Apache-2.0
#include "rules/interleave/groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "rules/interleave/matching.h"

namespace almanac::interleave {
std::vector<Stages> stages_of(const Group& group, std::span<const Candidate> jobs) {
  std::vector<Stages> stages;
  for (const std::size_t job : group) stages.push_back(jobs[job].stages);
  return stages;
}

Group joined(const Group& one, const Group& other) {
  Group both = one;
  both.insert(both.end(), other.begin(), other.end());
  return both;
}

std::vector<int> kinds_of(std::span<const Candidate> jobs) {
  std::map<std::array<double, 4>, int> numbers;
  std::vector<int> kinds;
  for (const Candidate& job : jobs) {
    const Stages& stages = job.stages;
    const std::array<double, 4> times{stages.load, stages.compute, stages.network, job.iteration_s};
    kinds.push_back(numbers.try_emplace(times, static_cast<int>(numbers.size())).first->second);
  }
  return kinds;
}

std::vector<GroupsOf> single_groups(std::span<const int> gpus_of) {
  std::vector<GroupsOf> made;
  for (std::size_t job = 0; job < gpus_of.size(); ++job) {
    auto known = std::find_if(made.begin(), made.end(),
                              [&](const GroupsOf& each) { return each.gpus == gpus_of[job]; });
    if (known == made.end()) known = made.insert(known, {.gpus = gpus_of[job]});
    known->groups.push_back({job});
  }
  return made;
}

std::vector<Group> all_groups(std::span<const GroupsOf> by_gpus) {
  std::vector<Group> all;
  for (const auto& [gpus, groups] : by_gpus) all.insert(all.end(), groups.begin(), groups.end());
  return all;
}

namespace {

/// Weights of groups, computed once for equal jobs: there are few models and many jobs.
class KnownWeights {
 public:
  explicit KnownWeights(std::span<const Candidate> jobs) : jobs_(jobs), kinds_(kinds_of(jobs)) {}
  double operator()(const Group& group) {
    std::vector<int> kinds;
    for (const std::size_t job : group) kinds.push_back(kinds_[job]);
    const auto [known, fresh] = known_.try_emplace(std::move(kinds), 0);
    if (fresh) known->second = weight_of(group, jobs_);
    return known->second;
  }

 private:
  std::span<const Candidate> jobs_;
  std::vector<int> kinds_;
  std::map<std::vector<int>, double> known_;
};

/// Merges pairs of `groups`, of which each asks `gpus`, while `excess` GPUs are too many.
void merge(std::span<Group> groups, int gpus, const GroupWeight& weight, int& excess) {
  const std::size_t n = groups.size();
  Weights weights(n, std::vector<std::int64_t>(n, 0));
  for (std::size_t one = 0; one < n; ++one) {
    for (std::size_t other = one + 1; other < n; ++other) {
      if (groups[one].size() + groups[other].size() > kMaxGroup) continue;
      weights[one][other] = weights[other][one] =
          std::llround(weight(joined(groups[one], groups[other])) * 1e9);
    }
  }
  const std::vector<int> mates = heaviest_matching(weights);
  for (std::size_t at = 0; at < n && excess > 0; ++at) {
    if (mates[at] < 0 || static_cast<std::size_t>(mates[at]) > at) continue;
    Group& other = groups[static_cast<std::size_t>(mates[at])];
    groups[at] = joined(other, groups[at]);
    other.clear();
    excess -= gpus;
  }
}

}  // namespace

double iteration_of(const Group& group, std::span<const Candidate> jobs) {
  if (group.size() == 1) return jobs[group.front()].iteration_s;
  return group_iteration_s(period(stages_of(group, jobs)).best, group.size());
}

double weight_of(const Group& group, std::span<const Candidate> jobs) {
  return used_ratio(stages_of(group, jobs), iteration_of(group, jobs));
}

bool in_vain(const Group& group, std::span<const Candidate> jobs) {
  double alone = 0;
  for (const std::size_t job : group) alone += jobs[job].iteration_s;
  return group.size() > 1 && iteration_of(group, jobs) > alone;
}

std::vector<Group> group(std::span<const int> gpus_of, int gpus, const GroupWeight& weight,
                         std::size_t most_matched) {
  std::vector<GroupsOf> by_gpus = single_groups(gpus_of);
  int excess = std::accumulate(gpus_of.begin(), gpus_of.end(), -gpus);
  for (std::size_t pass = 0; pass < kMaxGroup; ++pass) {
    for (auto& [count, groups] : by_gpus) {
      for (std::size_t at = 0; at < groups.size() && excess > 0;) {
        const std::size_t most = std::min(most_matched, groups.size() - at);
        merge(std::span(groups).subspan(at, most), count, weight, excess);
        at += most;
      }
      std::erase_if(groups, [](const Group& each) { return each.empty(); });
    }
  }
  return all_groups(by_gpus);
}

std::vector<Group> group(std::span<const Candidate> jobs, int gpus) {
  std::vector<int> gpus_of;
  for (const Candidate& job : jobs) gpus_of.push_back(job.gpus);
  return group(gpus_of, gpus, KnownWeights(jobs));
}

}  // namespace almanac::interleave
