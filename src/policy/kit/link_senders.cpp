// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/link_senders.h"

#include <utility>

namespace almanac::policy {

bool LinkSenders::may_send(JobId job, const Desk& desk) {
  const View& view = desk.view();
  if (view.speeds == nullptr || !view.cluster.has_links()) return false;
  if (!map_) map_.emplace(view.cluster);
  return desk.grants(job).size() > 1;
}

void LinkSenders::enter(JobId job, const Desk& desk) {
  const auto flow = desk.view().speeds->flow(job, desk.grants(job));
  if (!flow) return;
  Sender& made = senders_[job];
  made = {*flow, map_->links(desk.grants(job))};
  for (const std::uint32_t link : made.links) {
    on_link_[link].push_back(job);
    changed_.insert(link);
  }
}

void LinkSenders::leave(JobId job) {
  const auto found = senders_.find(job);
  if (found == senders_.end()) return;
  for (const std::uint32_t link : found->second.links) {
    std::erase(on_link_[link], job);
    changed_.insert(link);
  }
  senders_.erase(found);
}

void LinkSenders::touch_all() {
  for (const auto& [link, jobs] : on_link_) changed_.insert(link);
}

std::optional<LinkSenders::Group> LinkSenders::next_changed() {
  if (changed_.empty()) return std::nullopt;
  Group group{.links = {*changed_.begin()}};
  std::set<std::uint32_t> seen(group.links.begin(), group.links.end());
  std::set<JobId> known;
  std::size_t bonds = 0;
  for (std::size_t at = 0; at < group.links.size(); ++at) {
    changed_.erase(group.links[at]);
    for (const JobId job : on(group.links[at])) {
      ++bonds;
      if (!known.insert(job).second) continue;
      group.jobs.push_back(job);
      for (const std::uint32_t next : of(job).links) {
        changed_.erase(next);
        // A link that a job has for itself binds no other job.
        if (on(next).size() > 1 && seen.insert(next).second) group.links.push_back(next);
      }
    }
  }
  group.is_tree = bonds + 1 == group.jobs.size() + group.links.size();
  return group;
}

const std::vector<JobId>& LinkSenders::on(std::uint32_t link) const {
  static const std::vector<JobId> none;
  const auto found = on_link_.find(link);
  return found == on_link_.end() ? none : found->second;
}

}  // namespace almanac::policy
