// SPDX-License-Identifier: Apache-2.0
#include "study/vc_load.h"

#include <algorithm>
#include <limits>
#include <map>

namespace almanac::study {

std::vector<VcJobs> jobs_by_vc(const Study& study) {
  const cluster::Cluster& cluster = study.cluster();
  std::vector<VcJobs> groups(1);
  std::map<NameId, std::size_t> group_of;
  if (!cluster.takes_every_job) {
    for (std::uint32_t v = 0; v < cluster.vcs.size(); ++v) {
      const auto name = study.trace().names.find(cluster.vcs[v].name);
      if (!name) continue;
      group_of[*name] = groups.size();
      groups.push_back({.name = *name, .vc = VcId{v}, .jobs = {}});
    }
    // Others name some partitions of a virtual cluster.
    for (const std::uint32_t at : study.gpu_jobs()) {
      const NameId name = study.job(at).request.vc;
      if (name == kNoName || group_of.contains(name)) continue;
      const VcId vc = cluster.find_vc_of_jobs(study.trace().names[name]);
      if (vc == kNoVc) continue;
      const auto known = std::find_if(groups.begin() + 1, groups.end(),
                                      [&](const VcJobs& group) { return group.vc == vc; });
      group_of[name] = static_cast<std::size_t>(known - groups.begin());
      if (known == groups.end()) groups.push_back({.name = name, .vc = vc, .jobs = {}});
    }
  }
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    if (job.outcome.start == kNoTime) continue;
    const auto found = group_of.find(job.request.vc);
    if (found == group_of.end() && !group_of.empty()) continue;
    groups[group_of.empty() ? 0 : found->second].jobs.push_back(at);
  }
  std::erase_if(groups, [](const VcJobs& group) { return group.jobs.empty(); });
  return groups;
}

VcLoad::VcLoad(const Study& study, const VcJobs& group) {
  const cluster::Cluster& cluster = study.cluster();
  int gpus = group.vc == kNoVc ? cluster.gpus() : cluster.gpus(group.vc);
  capacity_.push_back({Time::min(), gpus});
  std::map<VcId, int> now;
  for (const cluster::CapacityChange& change : cluster.changes) {
    if (group.vc != kNoVc && change.vc != group.vc) continue;
    const int a_node = cluster.gpus(cluster.vcs[index(change.vc)].first);
    const auto [known, fresh] = now.try_emplace(change.vc, cluster.gpus(change.vc));
    gpus += change.nodes * a_node - known->second;
    known->second = change.nodes * a_node;
    capacity_.push_back({change.at, gpus});
  }

  struct Change {
    Time at;
    int gpus;
  };
  std::vector<Change> changes;
  changes.reserve(2 * group.jobs.size() + capacity_.size());
  for (const std::uint32_t at : group.jobs) {
    const trace::Job& job = study.job(at);
    changes.push_back({job.outcome.start, -job.request.gpus});
    changes.push_back({job.outcome.start + duration_of(job), job.request.gpus});
  }
  for (std::size_t c = 1; c < capacity_.size(); ++c) {
    changes.push_back({capacity_[c].at, capacity_[c].gpus - capacity_[c - 1].gpus});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.at < b.at; });
  std::vector<int> free;
  int now_free = capacity_.front().gpus;
  for (std::size_t c = 0; c < changes.size();) {
    const Time at = changes[c].at;
    for (; c < changes.size() && changes[c].at == at; ++c) now_free += changes[c].gpus;
    times_.push_back(at);
    free.push_back(now_free);
  }
  tree_.resize(2 * free.size());
  std::copy(free.begin(), free.end(), tree_.begin() + static_cast<std::ptrdiff_t>(free.size()));
  for (std::size_t node = free.size(); node-- > 1;) {
    tree_[node] = std::max(tree_[2 * node], tree_[2 * node + 1]);
  }
}

std::size_t VcLoad::event_at(Time time) const {
  const auto after = std::upper_bound(times_.begin(), times_.end(), time);
  return after == times_.begin() ? SIZE_MAX : static_cast<std::size_t>(after - times_.begin()) - 1;
}

int VcLoad::free_before(Time time) const {
  const auto first = std::lower_bound(times_.begin(), times_.end(), time);
  if (first == times_.begin()) return capacity_.front().gpus;
  return tree_[times_.size() + static_cast<std::size_t>(first - times_.begin()) - 1];
}

int VcLoad::most_free(Time from, Time to) const {
  const std::size_t count = times_.size();
  std::size_t low = event_at(from);
  int most = std::numeric_limits<int>::min();
  if (low == SIZE_MAX) {
    most = capacity_.front().gpus;
    low = 0;
    if (count == 0 || times_.front() >= to) return most;
  }
  const auto end = std::lower_bound(times_.begin(), times_.end(), to);
  std::size_t high = std::max(low + 1, static_cast<std::size_t>(end - times_.begin()));
  for (low += count, high += count; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) most = std::max(most, tree_[low++]);
    if (high % 2 == 1) most = std::max(most, tree_[--high]);
  }
  return most;
}

}  // namespace almanac::study
