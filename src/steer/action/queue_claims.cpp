// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "steer/action/queue_change.h"
#include "steer/mark.h"
#include "steer/shards.h"
#include "text/host_list.h"

namespace almanac::steer {
namespace {

using slurm::JobChange;

/// The number that orders it, of those that `becomes` sets; nothing = none.
std::optional<std::int64_t> number_of(const slurm::Job& job, const JobChange& becomes) {
  if (becomes.site_factor) return job.site_factor;
  if (becomes.priority) return job.priority;
  return std::nullopt;
}

void add_numbers(std::set<std::int64_t>& numbers, const JobChange& change) {
  if (change.site_factor) numbers.insert(*change.site_factor);
  if (change.priority) numbers.insert(*change.priority);
}

/// `was` where `present` is still what it became.
template <typename Value>
void bring_back(std::optional<Value>& back, const std::optional<Value>& was,
                const std::optional<Value>& became, const Value& present) {
  if (was && became == present && was != became) back = was;
}

/// Slurm writes the same nodes in other ways: "n1,n2", "n[1-2]".
bool same_nodes(const std::string& a, const std::string& b) {
  if (a == b) return true;
  auto one = text::expand_hosts(a);
  auto other = text::expand_hosts(b);
  if (!one || !other) return false;
  std::sort(one->begin(), one->end());
  std::sort(other->begin(), other->end());
  return *one == *other;
}

bool is_empty(const JobChange& change) { return change == JobChange{.job = change.job}; }

}  // namespace

JobChange as_it_is(const slurm::Job& job, const JobChange& change, bool priority_is_basic) {
  JobChange made{.job = job.number};
  if (change.site_factor) made.site_factor = job.site_factor;
  // What a plugin works out again and again is brought back by letting it.
  if (change.priority) made.priority = priority_is_basic ? job.priority : JobChange::kUsual;
  // What the mark stands for is ours, also where the plugin set it.
  const bool ours = is_marked(job);
  if (change.held) made.held = job.held && !is_held_by_us(job);
  if (change.required_nodes) made.required_nodes = ours ? "" : job.required_nodes;
  if (change.comment) made.comment = ours ? "" : job.comment;
  if (change.shards) made.shards = shards_of_a_node(job);
  return made;
}

void QueueClaims::take(const QueueChange& change, const Done& done) {
  const slurm::JobNumber job = change.becomes.job;
  if (done.is_undo) {
    jobs_.erase(job);
    undone_.insert(job);
    return;
  }
  Claim& claim = jobs_[job];
  claim.was = claim.was.job == job ? with(change.was, claim.was) : change.was;
  claim.becomes = with(claim.becomes, change.becomes);
  add_numbers(claim.numbers, change.was);
  add_numbers(claim.numbers, change.becomes);
  if (change.becomes.required_nodes) claim.nodes.insert(*change.becomes.required_nodes);
}

void QueueClaims::forget_gone(const Mirror& mirror) {
  undone_.clear();
  std::erase_if(jobs_, [&](const auto& each) { return mirror.find(each.first) == nullptr; });
}

std::vector<QueueChange> QueueClaims::invert(const Mirror& mirror) const {
  std::vector<QueueChange> made;
  for (const auto& [number, claim] : jobs_) {
    const slurm::Job* const job = mirror.find(number);
    if (job == nullptr || !waits(*job)) continue;
    const JobChange& was = claim.was;
    const JobChange& now = claim.becomes;
    JobChange back{.job = number};
    bring_back(back.site_factor, was.site_factor, now.site_factor, job->site_factor);
    bring_back(back.priority, was.priority, now.priority, job->priority);
    bring_back(back.shards, was.shards, now.shards, shards_of_a_node(*job));
    if (const auto unmarked = without_mark(*job)) {
      back.held = unmarked->held;
      back.required_nodes = unmarked->required_nodes;
      back.comment = unmarked->comment;
    } else {
      // A hold without our mark is a user's or an operator's by now.
      bring_back(back.comment, was.comment, now.comment, job->comment);
      if (was.required_nodes && now.required_nodes && *was.required_nodes != *now.required_nodes &&
          same_nodes(*now.required_nodes, job->required_nodes)) {
        back.required_nodes = was.required_nodes;
      }
    }
    if (!is_empty(back)) made.push_back({now, back});
  }
  for (const auto& [number, job] : mirror.jobs()) {
    if (!waits(job) || jobs_.contains(number) || undone_.contains(number)) continue;
    // The plugin held this job, and nothing has been done to it since.
    if (const auto unmarked = without_mark(job)) {
      made.push_back({as_it_is(job, *unmarked, false), *unmarked});
    }
  }
  return made;
}

std::vector<std::pair<Time, QueueChange>> QueueClaims::standing(Time at) const {
  std::vector<std::pair<Time, QueueChange>> made;
  for (const auto& [number, claim] : jobs_) made.push_back({at, {claim.was, claim.becomes}});
  return made;
}

bool QueueClaims::chose_nodes_of(const slurm::Job& job) const {
  const auto found = jobs_.find(job.number);
  // A job that has only been ordered may have been placed before the journal began.
  const bool is_told =
      found != jobs_.end() && (found->second.becomes.held || found->second.becomes.comment ||
                               found->second.becomes.required_nodes);
  if (!is_told) return !is_held_by_us(job);
  const std::set<std::string>& chosen = found->second.nodes;
  return std::any_of(chosen.begin(), chosen.end(),
                     [&](const std::string& each) { return same_nodes(each, job.required_nodes); });
}

std::optional<JobChange> QueueClaims::without_mark(const slurm::Job& job) const {
  if (!is_marked(job)) return std::nullopt;
  JobChange made{.job = job.number};
  if (is_held_by_us(job)) made.held = false;
  if (!job.required_nodes.empty() && chose_nodes_of(job)) made.required_nodes = "";
  made.comment = "";
  return made;
}

bool QueueClaims::has_own_priority(const slurm::Job& job) const {
  if (!job.own_priority) return false;
  const auto found = jobs_.find(job.number);
  return found == jobs_.end() || !found->second.becomes.priority ||
         !found->second.numbers.contains(job.priority);
}

int QueueClaims::asked_shards(const slurm::Job& job) const {
  const int present = shards_of_a_node(job);
  const auto found = jobs_.find(job.number);
  if (found == jobs_.end() || found->second.becomes.shards != present) return present;
  return found->second.was.shards.value_or(present);
}

std::vector<slurm::JobNumber> QueueClaims::taken_over(const Mirror& mirror) {
  std::vector<slurm::JobNumber> made;
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    const auto each = at++;
    const slurm::Job* const job = mirror.find(each->first);
    if (job == nullptr || !waits(*job) || job->held) continue;
    const auto number = number_of(*job, each->second.becomes);
    // A controller that was killed comes back with what it last wrote to its disk.
    const bool is_ours = !number || *number == 0 || each->second.numbers.contains(*number);
    if (is_ours && !has_own_priority(*job)) continue;
    made.push_back(each->first);
    jobs_.erase(each);
  }
  return made;
}

}  // namespace almanac::steer
