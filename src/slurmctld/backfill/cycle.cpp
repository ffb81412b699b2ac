// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/cycle.h"

#include <algorithm>
#include <set>
#include <utility>

#include "slurmctld/main_loop/preempt.h"

namespace almanac::slurmctld {
namespace {

Seconds whole_seconds(Duration length) { return length.count() / 1000; }

/// Tests of one job at later and later times; more than that never end well.
constexpr int kMostTries = 1000;

/// Returns how many jobs a cycle tests before it yields its locks for the first time, by the time
/// that sdiag gives for a test; no number of jobs is enough if that is unknown.
int tests_before_yield(const site::Site& site) {
  constexpr int kNever = 1'000'000'000;
  if (!site.diagnostics || !(site.diagnostics->backfill_mean_try_depth > 0)) return kNever;
  const double test_us =
      site.diagnostics->backfill_mean_us / site.diagnostics->backfill_mean_try_depth;
  const auto yield_us = static_cast<double>(site.config.scheduler.bf_yield_interval.count());
  return test_us > 0 ? static_cast<int>(std::clamp<double>(yield_us / test_us, 1, kNever)) : kNever;
}

}  // namespace

BackfillCycle::BackfillCycle(State& state)
    : state_(state), space_(state.zones), tested_(state.zones.size()) {
  const site::Config& config = state.site.config;
  will_run_.linear_window = whole_seconds(config.scheduler.bf_window_linear);
  will_run_.kill_wait = whole_seconds(config.kill_wait);
  for (const site::Partition& each : state.site.partitions) {
    const Duration over =
        each.over_time_limit == kNoDuration ? config.over_time_limit : each.over_time_limit;
    will_run_.over_limits.push_back(over == text::kUnlimited ? kNoSeconds : whole_seconds(over));
  }
}

void BackfillCycle::run(Seconds now, bool plan_all) {
  const site::SchedulerSettings& settings = state_.site.config.scheduler;
  counts_ = {};
  promised_ = 0;
  began_ = now;
  resolution_ = std::max<Seconds>(1, whole_seconds(settings.bf_resolution));
  window_ = whole_seconds(settings.bf_window);
  space_.reset(now / resolution_ * resolution_, (now + window_) / resolution_ * resolution_,
               state_.up);
  if (std::vector<Queue::Record> sorted = preemption_order(state_); !sorted.empty()) {
    order_ = std::move(sorted);
  } else if (plan_all) {
    order_.assign(state_.queue.begin(), state_.queue.end());
  } else {
    find_startable_records();
  }
  const int most_tests = settings.bf_continue
                             ? settings.bf_max_job_test
                             : std::min(settings.bf_max_job_test, tests_before_yield(state_.site));
  std::set<std::pair<JobNumber, PartitionAt>> refused_arrays;
  for (const Queue::Record& record : order_) record.job->planned_start = kNoSeconds;
  for (const Queue::Record& record : order_) {
    Job& job = *record.job;
    const PartitionAt partition = record.partition;
    if (job.is_running) continue;
    if (counts_.total >= most_tests) return;
    if (static_cast<int>(space_.num_periods()) >= settings.bf_node_space_size) return;
    if (settings.bf_max_job_start > 0 && counts_.started >= settings.bf_max_job_start) return;
    if (refused_arrays.contains({job.array, partition})) continue;
    if (exceeds_counts(counts_, job, partition)) continue;
    ++counts_.total;
    const bool reserves = may_reserve(job, partition, now);
    // Tasks of an array follow each other until one does not start.
    int planned = 0;
    for (bool goes_on = true; goes_on;) {
      const bool is_array = job.is_array();
      const int promised = promised_;
      const std::size_t tasks = job.ask.tasks.size();
      const bool started = try_record(job, partition, now, reserves);
      if (started) ++counts_.started;
      const bool was_planned = promised_ > promised;
      if (was_planned) ++planned;
      goes_on = is_array && (started ? tasks > 1
                                     : was_planned && planned < static_cast<int>(tasks) &&
                                           planned < settings.bf_max_job_array_resv &&
                                           (job.ask.most_tasks == 0 ||
                                            job.running_tasks + planned < job.ask.most_tasks));
      if (is_array && !started && !was_planned) refused_arrays.insert({job.array, partition});
    }
  }
}

/// Takes the queue up to the last record that would fit without any promise. Records of other
/// partitions count, as any promise may split the periods that a test looks at.
void BackfillCycle::find_startable_records() {
  const site::SchedulerSettings& settings = state_.site.config.scheduler;
  std::size_t last = 0;
  Counts counts;
  order_.clear();
  fits_now_.clear();
  for (const Queue::Record& record : state_.queue) {
    Job& job = *record.job;
    const PartitionAt partition = record.partition;
    if (counts.total >= settings.bf_max_job_test) break;
    // A job that starts in one of its partitions is not tested in the others.
    const bool is_tested = job.partitions.size() == 1 && !exceeds_counts(counts, job, partition);
    if (is_tested) ++counts.total;
    order_.push_back(record);
    if (!fits_now(job, partition) || (state_.admits && !state_.admits(job))) continue;
    last = order_.size();
  }
  order_.resize(last);
}

bool BackfillCycle::fits_now(Job& job, PartitionAt partition) {
  const std::uint64_t version = state_.version(state_.zones.of_partition(partition));
  Job::FitNow& known = job.fit_now;
  if (known.version == version && known.partition == partition) return known.fits;
  const auto [fits, is_new] =
      fits_now_.try_emplace(std::uint64_t{job.shape} << 32 | partition, false);
  if (is_new) {
    const NodeBits nodes = state_.usable(partition);
    const Question question = state_.question(job, partition, nodes);
    fits->second =
        fit_now(state_.room, question, state_.fits(job, question)).allocation.has_value();
  }
  known = {partition, version, fits->second};
  return known.fits;
}

bool BackfillCycle::exceeds_counts(Counts& counts, const Job& job, PartitionAt partition) const {
  const site::SchedulerSettings& settings = state_.site.config.scheduler;
  const auto exceeds = [](int most, auto& all, const auto&... key) {
    return most > 0 && all[{key...}]++ >= most;
  };
  return exceeds(settings.bf_max_job_user_part, counts.by_user_and_partition, job.ask.user,
                 partition) ||
         exceeds(settings.bf_max_job_part, counts.by_partition, partition) ||
         exceeds(settings.bf_max_job_assoc, counts.by_association, job.association) ||
         exceeds(settings.bf_max_job_user, counts.by_user, job.ask.user);
}

bool BackfillCycle::may_reserve(const Job& job, PartitionAt partition, Seconds now) const {
  const site::SchedulerSettings& settings = state_.site.config.scheduler;
  const Seconds age = whole_seconds(settings.bf_min_age_reserve);
  if (age > 0 && now - job.eligible < age) return false;
  if (settings.bf_min_prio_reserve > 0 &&
      state_.priority(job, partition) < settings.bf_min_prio_reserve) {
    return false;
  }
  if (settings.bf_one_resv_per_job && job.planned_start != kNoSeconds) return false;
  if (settings.bf_job_part_count_reserve > 0) {
    const auto reserved = counts_.reserved.find(partition);
    return reserved == counts_.reserved.end() ||
           reserved->second < settings.bf_job_part_count_reserve;
  }
  return true;
}

/// Returns whether the job, or a task of the array, has started.
bool BackfillCycle::try_record(Job& job, PartitionAt partition, Seconds now, bool reserves) {
  if (job.ask.most_tasks > 0 && job.running_tasks >= job.ask.most_tasks) return false;
  if (state_.check_partition(job, partition) != kNone) return false;
  if (state_.admits && !state_.admits(job)) return false;
  const site::SchedulerSettings& settings = state_.site.config.scheduler;
  const Seconds limit = state_.limit_in(job, partition);
  if (!settings.assoc_limit_stop) {
    if (const ReasonName reason = state_.limits.before_nodes(job, partition, limit);
        reason != kNone) {
      job.reason = reason;
      return false;
    }
  }
  if (!settings.bf_licenses && !state_.has_licenses(job)) {
    job.reason = kLicenses;
    return false;
  }
  return try_once(job, partition, now, reserves);
}

std::optional<PlannedStart> BackfillCycle::predict(const Job& job, PartitionAt partition,
                                                   const NodeBits& nodes, Seconds now) {
  const Question question = state_.real_question(job, partition, nodes);
  if (auto fit = fit_by_preemption(state_, job, partition, nodes, now)) {
    preempting_ = *std::move(fit);
    return PlannedStart{now, &preempting_};
  }
  return will_run(state_.room, question, state_.fits(job, question), state_.running_in(partition),
                  now, will_run_);
}

/// Returns whether the job started.
bool BackfillCycle::try_once(Job& job, PartitionAt partition, Seconds now, bool may_reserve) {
  const site::SchedulerSettings& settings = state_.site.config.scheduler;
  Seconds limit = state_.limit_in(job, partition);
  if (job.ask.time_min != kNoSeconds) limit = std::min(limit, job.ask.time_min);
  const ZoneAt zone = state_.zones.of_partition(partition);
  const NodeBits::Extent& extent = state_.zones.extent(zone);
  const auto least = static_cast<std::size_t>(
      bounds_of(job.ask.request, state_.rules[partition], state_.table.size()).least_nodes);
  Seconds later = now;
  for (int tries = 0; tries < kMostTries; ++tries) {
    const Seconds from = std::max(later, now);
    NodeBits& nodes = tested_[zone];
    nodes.take(state_.partition_nodes[partition], extent);
    nodes.keep(state_.up, extent);
    const Seconds reserved_until = state_.reservations.next_end(job, from, from + limit);
    state_.reservations.apply(job, nodes, from, from + limit);
    later = space_.narrow(zone, nodes, from, from + limit, least);
    if (reserved_until > 0 && reserved_until < began_ + window_) {
      later = later == 0 ? reserved_until + 1 : std::min(later, reserved_until + 1);
    }
    for (const NodeAt node : job.ask.request.excluded) nodes.erase(node);
    std::optional<PlannedStart> found;
    if (nodes.has_at_least(least, extent)) found = predict(job, partition, nodes, now);
    if (!found) {
      if (later > from && may_reserve) continue;
      return false;
    }
    const Fit& fit = *found->fit;
    const std::vector<Share>& shares = fit.allocation->shares;
    Seconds start = std::max(found->start, from);
    const auto is_completing = [&](const Share& each) { return state_.completing[each.node] > 0; };
    if (start <= now && std::any_of(shares.begin(), shares.end(), is_completing)) {
      start = now + 1;
      later = 0;
    }
    if (start <= now) {
      const Outcome outcome = this->start(job, partition, nodes, now);
      if (outcome == Outcome::started) return true;
      if (outcome == Outcome::refused) {
        if (!settings.assoc_limit_stop) return false;
        constexpr Seconds kRefusedFor = 500;
        start = later > 0 ? later : now + kRefusedFor;
      }
    } else if (!may_reserve) {
      note_plan(job, start);
      return false;
    }
    if (later > 0 && start > later) continue;
    if (start / resolution_ * resolution_ > began_ + window_) return false;
    if (start > now && space_.is_promised(zone, fit.nodes, start / resolution_ * resolution_,
                                          slot_end(start, limit))) {
      later = start;
      continue;
    }
    if (!settings.assoc_limit_stop &&
        state_.check_limits(job, partition, limit, *fit.allocation) != kNone) {
      return false;
    }
    reserve(job, partition, start, limit, fit.nodes);
    return false;
  }
  return false;
}

/// Returns the end of a promise, on the grid of bf_resolution.
Seconds BackfillCycle::slot_end(Seconds start, Seconds limit) const {
  const Seconds begin = start / resolution_ * resolution_;
  Seconds end = start + limit;
  if (state_.site.config.release >= 2411) end += resolution_ - 1;
  return std::max(end / resolution_ * resolution_, begin + resolution_);
}

void BackfillCycle::reserve(Job& job, PartitionAt partition, Seconds start, Seconds limit,
                            const NodeBits& nodes) {
  space_.promise(state_.zones.of_partition(partition), nodes, start / resolution_ * resolution_,
                 slot_end(start, limit));
  ++counts_.reserved[partition];
  note_plan(job, start);
  ++promised_;
}

void BackfillCycle::note_plan(Job& job, Seconds start) {
  if (job.planned_start == kNoSeconds || start < job.planned_start) job.planned_start = start;
}

BackfillCycle::Outcome BackfillCycle::start(Job& job, PartitionAt partition, const NodeBits& nodes,
                                            Seconds now) {
  // The nodes are chosen again, with the weights that they really have.
  state_.reset_weights(partition);
  const Question question = state_.real_question(job, partition, nodes);
  std::optional<Allocation> allocation =
      fit_now(state_.room, question, state_.fits(job, question)).allocation;
  if (!allocation) {
    leave_weights_of_empty_nodes(state_.table, question, nodes);
    if (const ReasonName reason =
            state_.check_request(job, partition, state_.limit_in(job, partition));
        reason != kNone) {
      job.reason = reason;
      return Outcome::refused;
    }
    preempt_for(state_, job, partition, nodes, now);
    return Outcome::busy;
  }
  Seconds limit = state_.limit_in(job, partition);
  if (const ReasonName reason = state_.check_limits(job, partition, limit, *allocation);
      reason != kNone) {
    job.reason = reason;
    return Outcome::refused;
  }
  if (job.ask.time_min != kNoSeconds && job.ask.time_min < limit) {
    limit = longest_limit(job, partition, nodes_of(*allocation, state_.table.size()), now);
  }
  return state_.start(job, partition, *std::move(allocation), now, limit, true) ? Outcome::started
                                                                                : Outcome::busy;
}

/// Returns the longest limit of a job with --time-min that delays no promise.
Seconds BackfillCycle::longest_limit(const Job& job, PartitionAt partition, const NodeBits& nodes,
                                     Seconds now) const {
  Seconds limit = state_.limit_in(job, partition);
  const ZoneAt zone = state_.zones.of_partition(partition);
  if (const Seconds promised = space_.first_promise(zone, nodes, now); promised != kNoSeconds) {
    limit = std::min(limit, (promised - now) / 60 * 60);
  }
  return std::max(limit, job.ask.time_min);
}

}  // namespace almanac::slurmctld
