// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "steer/action/queue_change.h"
#include "steer/mark.h"
#include "steer/shards.h"
#include "text/host_list.h"

namespace almanac::steer {
namespace {

using manager::JobChange;

/// The number that orders it, of those that `becomes` sets; nothing = none.
std::optional<std::int64_t> number_of(const manager::Job& job, const JobChange& becomes) {
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

JobChange as_it_is(const manager::Job& job, const JobChange& change, bool keeps_priorities,
                   Time at) {
  JobChange made{.job = job.number};
  if (change.site_factor) made.site_factor = job.site_factor;
  // What a plugin works out again and again is brought back by letting it.
  if (change.priority) made.priority = keeps_priorities ? job.priority : JobChange::kUsual;
  // What the mark stands for is ours, also where the plugin set it.
  const bool ours = is_marked(job);
  if (change.begins && !is_leased(job, at)) {
    made.begins = job.eligible != kNoTime && job.eligible > at ? job.eligible : Time{};
  }
  if (change.required_nodes) made.required_nodes = ours ? "" : job.required_nodes;
  if (change.comment) made.comment = ours ? "" : job.comment;
  if (change.shards) made.shards = shards_of_a_node(job);
  return made;
}

void QueueClaims::take(const QueueChange& change, const Done& done) {
  const manager::JobNumber job = change.becomes.job;
  if (done.is_undo) {
    const bool is_taken_over = jobs_.of(job, change.meant).is_taken_over;
    jobs_.erase(job);
    if (is_taken_over) jobs_.of(job, change.meant).is_taken_over = true;
    undone_.insert(job);
    return;
  }
  Standing& claim = jobs_.of(job, change.meant);
  claim.was = claim.was.job == job ? with(change.was, claim.was) : change.was;
  // Slurm puts off when a job may begin each time that it is requeued.
  if (change.was.begins) claim.was.begins = change.was.begins;
  claim.becomes = with(claim.becomes, change.becomes);
  add_numbers(claim.numbers, change.was);
  add_numbers(claim.numbers, change.becomes);
  if (change.becomes.required_nodes) claim.nodes.insert(*change.becomes.required_nodes);
  claim.is_left = claim.is_left || change.leaves;
  if (change.is_taken_over) claim.lose_order();
  if (!change.becomes.comment) return;
  Tries& tries = tries_of(change);
  tries.released = *change.becomes.comment == kMark ? done.at : kNoTime;
  // Of one that did not answer it may not have been taken back, and will be again.
  if (change.in_vain == 0 || !done.is_known) return;
  tries.in_vain = change.in_vain;
  tries.taken_back = done.at;
}

void QueueClaims::refused(const QueueChange& change, Time /*at*/) {
  const auto& nodes = change.becomes.required_nodes;
  if (nodes && !nodes->empty()) tries_of(change).is_nodes_refused = true;
}

QueueClaims::Tries& QueueClaims::tries_of(const QueueChange& change) {
  Tries& tries = jobs_.of(change.becomes.job, change.meant).tries;
  if (tries.restarts != change.meant.restarts) tries = {.restarts = change.meant.restarts};
  return tries;
}

QueueClaims::Tries QueueClaims::tries(const manager::Job& job) const {
  if (const Standing* const claim = jobs_.find(job)) {
    return claim->tries.restarts == job.restarts ? claim->tries : Tries{.restarts = job.restarts};
  }
  // Without a journal it was released when the manager let it begin.
  return {.restarts = job.restarts, .released = job.comment == kMark ? job.eligible : kNoTime};
}

void QueueClaims::forget_gone(const Mirror& mirror) {
  undone_.clear();
  jobs_.forget_gone(mirror, [](const manager::Job&) { return true; });
}

std::vector<QueueChange> QueueClaims::invert(const Mirror& mirror) const {
  std::vector<QueueChange> made;
  for (const auto& [number, each] : jobs_) {
    const manager::Job* const job = mirror.find(number);
    if (job == nullptr || !waits(*job) || jobs_.find(*job) == nullptr) continue;
    const JobChange& was = each.value.was;
    const JobChange& now = each.value.becomes;
    JobChange back{.job = number};
    bring_back(back.site_factor, was.site_factor, now.site_factor, job->site_factor);
    bring_back(back.priority, was.priority, now.priority, job->priority);
    bring_back(back.shards, was.shards, now.shards, shards_of_a_node(*job));
    if (const auto unmarked = without_mark(*job, mirror.at())) {
      back.begins = unmarked->begins;
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
    if (!is_empty(back)) made.push_back({now, back, meant_by(*job)});
  }
  for (const auto& [number, job] : mirror.jobs()) {
    if (!waits(job) || jobs_.find(job) != nullptr || undone_.contains(number)) continue;
    // The plugin held this job, and nothing has been done to it since.
    if (const auto unmarked = without_mark(job, mirror.at())) {
      made.push_back({as_it_is(job, *unmarked, false, mirror.at()), *unmarked, meant_by(job)});
    }
  }
  return made;
}

std::vector<std::pair<Time, QueueChange>> QueueClaims::standing(Time at) const {
  std::vector<std::pair<Time, QueueChange>> made;
  for (const auto& [number, each] : jobs_) {
    QueueChange change{each.value.was, each.value.becomes, each.meant};
    const Tries& tries = each.value.tries;
    change.leaves = each.value.is_left;
    change.in_vain = tries.in_vain;
    change.is_taken_over = each.value.is_taken_over;
    const Time turned = std::max(tries.released, tries.taken_back);
    made.emplace_back(turned == kNoTime ? at : turned, std::move(change));
  }
  return made;
}

bool QueueClaims::chose_nodes_of(const manager::Job& job, Time at) const {
  const Standing* const claim = jobs_.find(job);
  // A job that has only been ordered may have been placed before the journal began.
  const bool is_told = claim != nullptr && (claim->becomes.begins || claim->becomes.comment ||
                                            claim->becomes.required_nodes);
  if (!is_told) return !is_leased(job, at);
  const std::set<std::string>& chosen = claim->nodes;
  return std::any_of(chosen.begin(), chosen.end(),
                     [&](const std::string& each) { return same_nodes(each, job.required_nodes); });
}

Time QueueClaims::may_begin(const manager::Job& job) const {
  const Standing* const claim = jobs_.find(job);
  return claim == nullptr ? Time{} : claim->was.begins.value_or(Time{});
}

std::optional<JobChange> QueueClaims::without_mark(const manager::Job& job, Time at) const {
  if (!is_marked(job)) return std::nullopt;
  JobChange made{.job = job.number};
  if (is_leased(job, at)) made.begins = may_begin(job);
  if (!job.required_nodes.empty() && chose_nodes_of(job, at)) made.required_nodes = "";
  made.comment = "";
  return made;
}

bool QueueClaims::has_own_priority(const manager::Job& job) const {
  if (!job.own_priority) return false;
  const Standing* const claim = jobs_.find(job);
  return claim == nullptr || !claim->becomes.priority || !claim->numbers.contains(job.priority);
}

bool QueueClaims::is_left(const manager::Job& job) const {
  const Standing* const claim = jobs_.find(job);
  return claim != nullptr && claim->is_left;
}

int QueueClaims::asked_shards(const manager::Job& job) const {
  const int present = shards_of_a_node(job);
  const Standing* const claim = jobs_.find(job);
  if (claim == nullptr || claim->becomes.shards != present) return present;
  return claim->was.shards.value_or(present);
}

void QueueClaims::Standing::lose_order() {
  is_taken_over = true;
  numbers.clear();
  for (JobChange* const each : {&was, &becomes}) {
    each->site_factor.reset();
    each->priority.reset();
  }
}

std::vector<QueueChange> QueueClaims::take_over(const Mirror& mirror) {
  std::vector<QueueChange> made;
  for (const auto& [job_number, each] : jobs_) {
    const manager::Job* const job = mirror.find(job_number);
    if (job == nullptr || !waits(*job) || job->held || jobs_.find(*job) == nullptr) continue;
    const auto number = number_of(*job, each.value.becomes);
    // A controller that was killed comes back with what it last wrote to its disk.
    if (!number) continue;
    const bool is_ours = *number == 0 || each.value.numbers.contains(*number);
    if (is_ours && !has_own_priority(*job)) continue;
    QueueChange& change = made.emplace_back(JobChange{.job = job_number},
                                            JobChange{.job = job_number}, meant_by(*job));
    change.is_taken_over = true;
  }
  for (const QueueChange& each : made) jobs_.at(each.becomes.job).lose_order();
  return made;
}

bool QueueClaims::is_taken_over(const manager::Job& job) const {
  const Standing* const claim = jobs_.find(job);
  return claim != nullptr && claim->is_taken_over;
}

}  // namespace almanac::steer
