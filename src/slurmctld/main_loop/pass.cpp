// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/main_loop/pass.h"

#include <algorithm>

#include "slurmctld/main_loop/preempt.h"

namespace almanac::slurmctld {
namespace {

/// Whether a limit, and not another job, keeps a job from starting.
bool waits_for_limit(ReasonName reason) {
  return reason.starts_with("Assoc") || reason.starts_with("QOS") ||
         reason.starts_with("Partition");
}

}  // namespace

void MainPass::run(Seconds now, bool full) {
  const site::SchedulerSettings& settings = state_.site.config.scheduler;
  find_available();
  failed_.assign(state_.rules.size(), false);
  depth_.assign(state_.rules.size(), 0);
  open_ = state_.queue.size();
  int tested = 0;
  int started = 0;
  std::set<std::pair<JobNumber, PartitionAt>> refused_arrays;
  const std::size_t depth =
      full ? state_.queue.size() : static_cast<std::size_t>(settings.default_queue_depth) + 1;
  const std::vector<Queue::Record> sorted = preemption_order(state_);
  auto next = state_.queue.begin();
  for (std::size_t at = 0; open_ > 0; ++at) {
    Queue::Record record;
    if (sorted.empty()) {
      if (next == state_.queue.end()) return;
      record = *next++;
    } else {
      if (at == sorted.size()) return;
      record = sorted[at];
    }
    Job& job = *record.job;
    const PartitionAt partition = record.partition;
    if (job.is_running) continue;
    if (!failed_[partition]) --open_;
    if (settings.partition_job_depth > 0 && depth_[partition]++ >= settings.partition_job_depth) {
      continue;
    }
    if (!full && static_cast<std::size_t>(tested++) >= depth) return;
    if (settings.sched_max_job_start > 0 && started >= settings.sched_max_job_start) return;
    if (failed_[partition] && job.ask.reservation.empty()) {
      if (job.reason == kNone || job.reason == kResources) job.reason = kPriority;
      continue;
    }
    if (refused_arrays.contains({job.array, partition})) continue;
    bool has_more = true;
    while (has_more) {
      const bool is_array = job.is_array();
      const std::size_t tasks = job.ask.tasks.size();
      const Outcome outcome = try_record(job, partition, now);
      if (outcome == Outcome::started) ++started;
      has_more = outcome == Outcome::started && is_array && tasks > 1;
      if (outcome == Outcome::started) continue;
      if (is_array) refused_arrays.insert({job.array, partition});
      if (outcome == Outcome::blocks && !is_exempt(job, partition, now)) fail(partition);
    }
    // The record of a job that has started is gone from the queue.
    if (sorted.empty() && job.is_running) next = state_.queue.upper_bound(record);
  }
}

bool MainPass::try_at_submission(Job& job, Seconds now) {
  if (!has_top_priority(job, now)) {
    job.reason = kPriority;
    return false;
  }
  find_available();
  // A copy: a start changes the job.
  const std::vector<PartitionAt> partitions = job.partitions;
  return std::any_of(partitions.begin(), partitions.end(), [&](PartitionAt each) {
    return try_record(job, each, now) == Outcome::started;
  });
}

void MainPass::find_available() {
  available_ = state_.up;
  for (NodeAt node = 0; node < state_.completing.size(); ++node) {
    if (state_.completing[node] > 0) available_.erase(node);
  }
}

bool MainPass::has_top_priority(const Job& job, Seconds now) const {
  const auto least_age =
      static_cast<Seconds>(seconds(state_.site.config.scheduler.bf_min_age_reserve));
  const std::uint32_t own = state_.priority(job, job.partitions.front());
  return std::none_of(state_.queue.begin(), state_.queue.end(), [&](const Queue::Record& record) {
    const Job& other = *record.job;
    if (&other == &job || other.ask.reservation != job.ask.reservation) return false;
    if (least_age > 0 && now - other.eligible < least_age) return false;
    return record.priority > own && !waits_for_limit(other.reason);
  });
}

MainPass::Outcome MainPass::try_record(Job& job, PartitionAt partition, Seconds now) {
  if (job.ask.most_tasks > 0 && job.running_tasks >= job.ask.most_tasks) {
    job.reason = kJobArrayTaskLimit;
    return Outcome::skipped;
  }
  if (const ReasonName reason = state_.check_partition(job, partition); reason != kNone) {
    job.reason = reason;
    return Outcome::skipped;
  }
  if (state_.admits && !state_.admits(job)) {
    job.reason = kHostLimit;
    return Outcome::skipped;
  }
  const Seconds limit = state_.limit_in(job, partition);
  const bool stops = state_.site.config.scheduler.assoc_limit_stop;
  if (const ReasonName reason = state_.limits.before_nodes(job, partition, limit);
      reason != kNone) {
    job.reason = reason;
    return stops ? Outcome::blocks : Outcome::skipped;
  }
  if (!state_.has_licenses(job)) {
    job.reason = kLicenses;
    return Outcome::skipped;
  }
  NodeBits& candidates = candidates_;
  candidates = available_;
  candidates &= state_.partition_nodes[partition];
  if (candidates.size() < static_cast<std::size_t>(job.ask.request.min_nodes)) {
    job.reason = kNodesUnavailable;
    return Outcome::blocks;
  }
  const bool is_reserved = state_.reservations.apply(job, candidates, now, now + limit);
  state_.reset_weights(partition);
  const Question question = state_.real_question(job, partition, candidates);
  std::optional<Allocation> allocation =
      fit_now(state_.room, question, state_.fits(job, question)).allocation;
  if (!allocation) {
    leave_weights_of_empty_nodes(state_.table, question, candidates);
    // slurmctld checks limits even if there are no nodes. A job above a limit blocks no others.
    if (const ReasonName reason = state_.check_request(job, partition, limit); reason != kNone) {
      job.reason = reason;
      return stops ? Outcome::blocks : Outcome::skipped;
    }
    job.reason = kResources;
    preempt_for(state_, job, partition, candidates, now);
    if (is_reserved) {
      // Other jobs may need other nodes than those of the reservation.
      job.reason = kMayBeReserved;
      return Outcome::skipped;
    }
    if (!job.ask.reservation.empty()) return Outcome::skipped;
    if (!job.ask.request.required.empty()) {
      for (const NodeAt node : job.ask.request.required) available_.erase(node);
      return Outcome::skipped;
    }
    return Outcome::blocks;
  }
  if (const ReasonName reason = state_.check_limits(job, partition, limit, *allocation);
      reason != kNone) {
    job.reason = reason;
    return stops ? Outcome::blocks : Outcome::skipped;
  }
  return state_.start(job, partition, *std::move(allocation), now, limit, false) ? Outcome::started
                                                                                 : Outcome::blocks;
}

bool MainPass::is_exempt(const Job& job, PartitionAt partition, Seconds now) const {
  const site::SchedulerSettings& settings = state_.site.config.scheduler;
  const auto age = static_cast<Seconds>(seconds(settings.bf_min_age_reserve));
  if (age > 0 && now - job.eligible < age) return true;
  return settings.bf_min_prio_reserve > 0 &&
         state_.priority(job, partition) < settings.bf_min_prio_reserve;
}

void MainPass::fail(PartitionAt partition) {
  if (failed_[partition]) return;
  failed_[partition] = true;
  available_ -= state_.partition_nodes[partition];
  // What is left of the queue beyond this record only matters in other partitions.
  open_ = 0;
  for (PartitionAt at = 0; at < failed_.size(); ++at) {
    if (!failed_[at]) open_ += state_.queue.size(at);
  }
}

}  // namespace almanac::slurmctld
