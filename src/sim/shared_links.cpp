// SPDX-License-Identifier: Apache-2.0
#include "sim/shared_links.h"

#include <algorithm>

namespace almanac::sim {

SharedLinks::SharedLinks(const cluster::Cluster& cluster, const policy::Speeds& speeds)
    : map_(cluster), speeds_(speeds) {
  for (const double gbps : map_.gbps()) links_.push_back({.gbps = gbps});
}

std::vector<JobId> SharedLinks::enter(JobId job, std::span<const cluster::Grant> held,
                                      const policy::Config& config) {
  if (links_.empty() || held.size() < 2) return {};
  const auto flow = speeds_.flow(job, held);
  if (!flow) return {};
  Sender made{.flow = *flow, .links = map_.links(held)};
  if (made.links.empty()) return {};
  made.flow.priority = config.link_priority;
  made.flow.in_turn = config.sending == policy::Sending::in_turn;
  if (config.sending == policy::Sending::shifted) made.flow.shift_ms = config.shift_ms;
  const Sender& sender = jobs_.insert_or_assign(job, std::move(made)).first->second;
  for (const std::uint32_t id : sender.links) {
    Link& link = links_[id];
    link.jobs.insert(std::lower_bound(link.jobs.begin(), link.jobs.end(), job), job);
    judge(link);
  }
  return others(job, sender);
}

std::vector<JobId> SharedLinks::leave(JobId job) {
  if (!has(job)) return {};
  const auto own = jobs_.find(job);
  std::vector<JobId> left = others(job, own->second);
  for (const std::uint32_t id : own->second.links) {
    std::erase(links_[id].jobs, job);
    judge(links_[id]);
  }
  jobs_.erase(own);
  return left;
}

std::vector<JobId> SharedLinks::others(JobId job, const Sender& sender) const {
  std::vector<JobId> found;
  for (const std::uint32_t id : sender.links) {
    found.insert(found.end(), links_[id].jobs.begin(), links_[id].jobs.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::erase(found, job);
  return found;
}

double SharedLinks::speed(JobId job) const {
  if (!has(job)) return 1;
  double stretch = 1;
  for (const std::uint32_t id : jobs_.at(job).links) {
    const Link& link = links_[id];
    const auto at = std::lower_bound(link.jobs.begin(), link.jobs.end(), job) - link.jobs.begin();
    stretch = std::max(stretch, link.stretches[static_cast<std::size_t>(at)]);
  }
  return 1 / stretch;
}

void SharedLinks::judge(Link& link) {
  std::vector<links::Flow> flows;
  for (const JobId job : link.jobs) flows.push_back(jobs_.at(job).flow);
  link.stretches = links::stretches(flows, link.gbps);
}

}  // namespace almanac::sim
