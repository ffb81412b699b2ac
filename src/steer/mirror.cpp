// SPDX-License-Identifier: Apache-2.0
#include "steer/mirror.h"

#include <algorithm>
#include <set>
#include <utility>

#include "steer/meant.h"

namespace almanac::steer {
namespace {

/// Whether they are the same machine: what runs there and whether it is on does not matter.
bool same_make(const manager::Node& a, const manager::Node& b) {
  return a.gpu_type == b.gpu_type && a.gpus == b.gpus && a.types == b.types &&
         a.shards == b.shards && a.mps == b.mps && a.cpus == b.cpus && a.memory_gb == b.memory_gb &&
         a.partitions == b.partitions && a.switches == b.switches;
}

bool same_nodes_and_tiers(const std::vector<manager::Partition>& a,
                          const std::vector<manager::Partition>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const manager::Partition& one, const manager::Partition& other) {
                      return one.name == other.name && one.nodes == other.nodes &&
                             one.priority_tier == other.priority_tier;
                    });
}

/// Whatever has been used of them.
bool same_shares(const std::vector<manager::Association>& a,
                 const std::vector<manager::Association>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](manager::Association one, const manager::Association& other) {
                      one.use = other.use;
                      return one == other;
                    });
}

}  // namespace

bool holds_nodes(const manager::Job& job) {
  return job.state != manager::State::pending && job.state != manager::State::ended;
}

const manager::Job* Mirror::find(manager::JobNumber job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

const manager::Partition* Mirror::find_partition(const std::string& name) const {
  const auto found =
      std::find_if(partitions_.begin(), partitions_.end(),
                   [&](const manager::Partition& each) { return each.name == name; });
  return found == partitions_.end() ? nullptr : &*found;
}

void Mirror::lose(Jobs::iterator at, Difference& made) {
  manager::Job last = std::move(at->second);
  jobs_.erase(at);
  last.state = manager::State::ended;
  if (last.end == kNoTime || last.end > at_) last.end = at_;
  made.ended.push_back(std::move(last));
}

void Mirror::take_job(manager::Job&& job, Difference& made) {
  const manager::JobNumber number = job.number;
  if (const auto known = jobs_.find(number);
      known != jobs_.end() && !is_same(meant_by(known->second), meant_by(job))) {
    lose(known, made);
  }
  if (job.state != manager::State::ended) {
    ended_.erase(number);
    const auto [at, is_new] = jobs_.try_emplace(number);
    if (!is_new && at->second == job) return;
    made.anything = true;
    made.came += is_new ? 1 : 0;
    if (holds_nodes(job) && (is_new || waits(at->second))) made.started.push_back(number);
    made.requeued += !is_new && job.restarts > at->second.restarts ? 1 : 0;
    static_cast<manager::Job&>(at->second) = std::move(job);
    at->second.revision = ++last_revision_;
    return;
  }
  jobs_.erase(number);
  const auto [known, is_new] = ended_.insert_or_assign(number, job.end);
  static_cast<void>(known);
  if (!is_new) return;
  made.anything = true;
  made.ended.push_back(std::move(job));
}

Difference Mirror::take(manager::News news) {
  Difference made;
  at_ = std::max(at_, news.at);
  std::set<manager::JobNumber> mentioned;
  for (manager::Job& job : news.jobs) {
    if (news.whole) mentioned.insert(job.number);
    take_job(std::move(job), made);
  }
  for (const manager::JobNumber number : news.gone) {
    ended_.erase(number);
    if (const auto found = jobs_.find(number); found != jobs_.end()) lose(found, made);
  }
  std::set<std::string> named;
  for (manager::Node& node : news.nodes) {
    if (news.whole) named.insert(node.name);
    const auto [at, is_new] = nodes_.try_emplace(node.name);
    if (is_new || !same_make(at->second, node)) ++hardware_;
    if (is_new || !(at->second == node)) made.anything = true;
    at->second = std::move(node);
  }
  for (const std::string& name : news.lost_nodes) hardware_ += nodes_.erase(name);
  if (news.whole) {
    for (auto at = jobs_.begin(); at != jobs_.end();) {
      const auto each = at++;
      if (!mentioned.contains(each->first)) lose(each, made);
    }
    std::erase_if(ended_, [&](const auto& each) { return !mentioned.contains(each.first); });
    hardware_ +=
        std::erase_if(nodes_, [&](const auto& each) { return !named.contains(each.first); });
  }
  if (news.partitions) {
    if (!same_nodes_and_tiers(partitions_, *news.partitions)) ++hardware_;
    made.anything = made.anything || partitions_ != *news.partitions;
    partitions_ = *std::move(news.partitions);
  }
  if (news.reservations) {
    made.anything = made.anything || reservations_ != *news.reservations;
    reservations_ = *std::move(news.reservations);
  }
  if (news.licences) {
    made.anything = made.anything || licences_ != *news.licences;
    licences_ = *std::move(news.licences);
  }
  if (news.limits) {
    if (limits_.qos_priorities != news.limits->qos_priorities) ++hardware_;
    made.anything = made.anything || limits_ != *news.limits;
    limits_ = *std::move(news.limits);
  }
  if (news.associations) {
    if (!same_shares(associations_, *news.associations)) ++hardware_;
    made.anything = made.anything || associations_ != *news.associations;
    associations_ = *std::move(news.associations);
  }
  made.anything = made.anything || !made.ended.empty() || !news.lost_nodes.empty();
  return made;
}

void Mirror::note(const manager::JobChange& change) {
  const auto found = jobs_.find(change.job);
  if (found == jobs_.end()) return;
  Known& job = found->second;
  job.revision = ++last_revision_;
  if (change.site_factor) job.site_factor = *change.site_factor;
  if (change.priority && *change.priority != manager::JobChange::kUsual) {
    job.priority = *change.priority;
  }
  if (change.held) job.held = *change.held;
  if (change.begins) job.eligible = std::max(*change.begins, at_);
  if (change.required_nodes) job.required_nodes = *change.required_nodes;
  if (change.comment) job.comment = *change.comment;
  if (change.shards) job.shards = *change.shards * std::max(1, job.nodes);
}

std::vector<const manager::Job*> running_jobs(const Mirror& mirror) {
  std::vector<const manager::Job*> made;
  for (const auto& [number, job] : mirror.jobs()) {
    if (holds_nodes(job)) made.push_back(&job);
  }
  std::stable_sort(made.begin(), made.end(), [](const manager::Job* a, const manager::Job* b) {
    return a->start < b->start;
  });
  return made;
}

bool is_out(const manager::Node& node) {
  return node.drained || node.reserved || node.power == manager::Power::to_power_down ||
         node.power == manager::Power::powering_down;
}

}  // namespace almanac::steer
