// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/main_loop/controller.h"

#include <algorithm>

namespace almanac::slurmctld {
namespace {

Seconds in_seconds(Duration length) { return length.count() / 1000; }
Time moment(Seconds at) { return Time{Duration{at * 1000}}; }

}  // namespace

Controller::Controller(const site::Site& site, const Phases& phases, bool plan_all)
    : state_(site),
      pass_(state_),
      cycle_(state_),
      plan_all_(plan_all),
      next_full_(phases.full_pass),
      next_cycle_(phases.cycle),
      next_decay_(phases.decay) {
  for (const site::Reservation& each : site.reservations) {
    NodeBits nodes(state_.table.size());
    for (const site::NodeIndex node : each.nodes) nodes.insert(node);
    state_.reservations.add({.name = each.name,
                             .nodes = std::move(nodes),
                             .start = each.start.time_since_epoch().count() / 1000,
                             .end = each.end.time_since_epoch().count() / 1000,
                             .flex = each.flags.flex,
                             .maintenance = each.flags.maintenance});
  }
}

void Controller::touch(Seconds now) {
  // Passes over the full queue that were due before found nothing new, so run() left them out.
  if (now > next_full_ && !(full_pass_due_ && is_waiting())) {
    const Seconds interval = full_interval();
    last_loop_ = next_full_ + (now - 1 - next_full_) / interval * interval;
    next_full_ = last_loop_ + interval;
  }
  // So did a cycle without pending jobs.
  if (cycle_due_ && backfills() && !is_waiting()) {
    const Seconds empty = std::max(next_cycle_, changed_at_);
    if (empty < now) next_cycle_ = empty + bf_interval();
  }
  changed_at_ = now;
  full_pass_due_ = cycle_due_ = true;
}

void Controller::changed(Seconds now) {
  touch(now);
  pass_queued_ = true;
}

void Controller::submit(Job job, Seconds now) {
  touch(now);
  job.submit = now;
  if (job.array == 0) job.array = job.number;
  job.is_held = job.ask.held;
  if (job.ask.begin_delay > 0) job.ask.begin = now + job.ask.begin_delay;
  Job& added = state_.add(std::move(job), now);
  added.reason = why_dormant(added, now);
  if (added.reason != kNone) {
    dormant_.insert(added.number);
    if (added.is_held && state_.priorities) state_.priorities->hold(added.number);
  } else {
    state_.test_submission(added);
    added.eligible = now;
    if (state_.priorities) state_.priorities->set_eligible(added.number, moment(now));
    state_.enqueue(added);
    const bool is_tried = added.ask.is_interactive && !state_.site.config.scheduler.defer;
    if (is_tried && pass_.try_at_submission(added, now)) return;
  }
  pass_queued_ = true;
}

void Controller::cancel(JobNumber number, Seconds now) {
  Job* const job = state_.find(number);
  if (job == nullptr) return;
  if (job->is_running) return end(number, now, true);
  touch(now);
  dormant_.erase(number);
  if (job->is_array()) failed_arrays_[job->array] = true;
  ended_[number] = {.at = now, .failed = true};
  purges_.emplace_back(now, number);
  job->end = now;
  state_.forget(number);
}

void Controller::cancel_task(JobNumber number, int task, Seconds now) {
  Job* const job = state_.find(number);
  if (job == nullptr || job->ask.tasks.size() < 2) return cancel(number, now);
  touch(now);
  std::erase(job->ask.tasks, task);
  failed_arrays_[job->array] = true;
}

void Controller::hold(JobNumber number, Seconds now) {
  Job* const job = state_.find(number);
  if (job == nullptr || job->is_running) return;
  changed(now);
  state_.dequeue(*job);
  job->is_held = true;
  job->reason = kJobHeldUser;
  dormant_.insert(number);
  if (state_.priorities) state_.priorities->hold(number);
}

void Controller::release(JobNumber number, Seconds now) {
  Job* const job = state_.find(number);
  if (job == nullptr || job->is_running) return;
  changed(now);
  job->is_held = false;
  if (state_.priorities) state_.priorities->release(number, moment(now));
}

void Controller::end(JobNumber number, Seconds now, bool failed) {
  Job* const job = state_.find(number);
  if (job == nullptr || !job->is_running) return;
  touch(now);
  ended_[number] = {job->start, now, failed};
  purges_.emplace_back(now, number);
  if (job->task >= 0) {
    // An array fails with any of its tasks. The record of its last task has the array's number.
    bool& any_failed = failed_arrays_[job->array];
    any_failed = any_failed || failed;
    ended_[job->array] = {job->start, now, any_failed};
    if (job->array != number) purges_.emplace_back(now, job->array);
  }
  state_.finish(*job, now);
  state_.forget(number);
  if (state_.site.config.scheduler.defer) {
    pass_queued_ = true;
  } else {
    pass_now_ = true;
  }
}

void Controller::adopt(Job job, PartitionAt partition, Allocation allocation, Seconds began) {
  full_pass_due_ = cycle_due_ = true;
  job.submit = std::min(job.submit, began);
  if (job.array == 0) job.array = job.number;
  Job& added = state_.add(std::move(job), began);
  state_.adopt(added, partition, std::move(allocation), began);
}

void Controller::set_up(NodeAt node, bool up, Seconds now) {
  changed(now);
  state_.set_up(node, up);
}

void Controller::reserve(ReservedNodes reservation, Seconds now) {
  changed(now);
  state_.reservations.add(std::move(reservation));
}

ReasonName Controller::why_dormant(const Job& job, Seconds now) const {
  if (job.is_held) return kJobHeldUser;
  switch (judge(job, now)) {
    case Verdict::fulfilled:
      break;
    case Verdict::waits:
      return kDependency;
    case Verdict::never:
      return kDependencyNeverSatisfied;
  }
  if (job.ask.begin > now) return kBeginTime;
  return state_.reservations.has_begun(job, now) ? kNone : kReservation;
}

bool Controller::has_tasks(JobNumber array) const {
  return std::any_of(state_.jobs.begin(), state_.jobs.end(),
                     [&](const auto& each) { return each.second.array == array; });
}

Controller::Verdict Controller::judge(const Job& job, Seconds now) const {
  bool any_waits = false;
  for (const Dependency& each : job.ask.dependencies) {
    const Verdict verdict = judge(job, each, now);
    if (job.ask.any_dependency && verdict == Verdict::fulfilled) return verdict;
    if (!job.ask.any_dependency && verdict == Verdict::never) return verdict;
    any_waits = any_waits || verdict == Verdict::waits;
  }
  if (job.ask.any_dependency) return any_waits ? Verdict::waits : Verdict::never;
  return any_waits ? Verdict::waits : Verdict::fulfilled;
}

Controller::Verdict Controller::judge(const Job& job, const Dependency& dependency,
                                      Seconds now) const {
  if (dependency.kind == DependencyKind::singleton) {
    const bool is_alone =
        std::none_of(state_.jobs.begin(), state_.jobs.end(), [&](const auto& each) {
          const Job& other = each.second;
          return other.number != job.number && other.ask.name == job.ask.name &&
                 other.ask.user == job.ask.user && (other.is_running || other.number < job.number);
        });
    return is_alone ? Verdict::fulfilled : Verdict::waits;
  }
  const Job* const other = state_.find(dependency.job);
  const bool tasks_left = other == nullptr && has_tasks(dependency.job);
  if (other != nullptr || tasks_left) {
    if (dependency.kind != DependencyKind::after || other == nullptr || !other->is_running) {
      return Verdict::waits;
    }
    return now >= other->start + dependency.delay ? Verdict::fulfilled : Verdict::waits;
  }
  const auto ended = ended_.find(dependency.job);
  // A job that the controller has forgotten counts as done.
  if (ended == ended_.end()) return Verdict::fulfilled;
  switch (dependency.kind) {
    case DependencyKind::after: {
      const Seconds since =
          ended->second.started == kNoSeconds ? ended->second.at : ended->second.started;
      return now >= since + dependency.delay ? Verdict::fulfilled : Verdict::waits;
    }
    case DependencyKind::after_ok:
    case DependencyKind::after_corr:
      return ended->second.failed ? Verdict::never : Verdict::fulfilled;
    case DependencyKind::after_not_ok:
      return ended->second.failed ? Verdict::fulfilled : Verdict::never;
    default:
      return Verdict::fulfilled;
  }
}

void Controller::build_queue(Seconds now) {
  state_.reservations.expire(now);
  for (auto at = dormant_.begin(); at != dormant_.end();) {
    Job& job = *state_.find(*at);
    job.reason = why_dormant(job, now);
    if (job.reason != kNone) {
      ++at;
      continue;
    }
    at = dormant_.erase(at);
    job.eligible = std::max(job.submit, job.ask.begin);
    if (!job.ask.dependencies.empty()) job.eligible = now;
    if (state_.priorities) state_.priorities->set_eligible(job.number, moment(job.eligible));
    state_.enqueue(job);
  }
  if (state_.priorities) state_.priorities->build_queue(moment(now));
  const Seconds age = in_seconds(state_.site.config.min_job_age);
  while (!purges_.empty() && purges_.front().first + age < now) {
    // A requeued job may have ended again since.
    const auto found = ended_.find(purges_.front().second);
    if (found != ended_.end() && found->second.at == purges_.front().first) {
      const auto array = failed_arrays_.find(found->first);
      if (array != failed_arrays_.end() && !has_tasks(array->first)) failed_arrays_.erase(array);
      ended_.erase(found);
    }
    purges_.pop_front();
  }
}

void Controller::pass(Seconds now, bool full) {
  build_queue(now);
  pass_.run(now, full);
}

void Controller::decay(Seconds now) {
  const Time last = state_.priorities->last_pass();
  const Seconds since = last == kNoTime ? 0 : last.time_since_epoch().count() / 1000;
  for (const RunningJob& each : state_.running()) {
    Job& job = *state_.find(each.job);
    state_.limits.elapse(job, now - std::max(job.start, since));
  }
  state_.priorities->pass(moment(now));
  state_.refile();
  touch(now);
}

void Controller::cycle(Seconds now) {
  build_queue(now);
  cycle_.run(now, plan_all_);
}

bool Controller::time_changes(Seconds now) const {
  const Seconds change = state_.reservations.next_change(last_run_);
  if (change > 0 && change <= now) return true;
  return std::any_of(dormant_.begin(), dormant_.end(), [&](JobNumber number) {
    const Seconds begin = state_.find(number)->ask.begin;
    return begin > last_run_ && begin <= now;
  });
}

bool Controller::is_waiting() const { return !state_.queue.empty() || !dormant_.empty(); }

bool Controller::backfills() const {
  const site::SchedulerSettings& settings = state_.site.config.scheduler;
  return settings.type == site::SchedulerType::backfill && settings.bf_interval != kNoDuration;
}

Seconds Controller::bf_interval() const {
  return in_seconds(state_.site.config.scheduler.bf_interval);
}

Seconds Controller::full_interval() const {
  return std::max<Seconds>(1, in_seconds(state_.site.config.scheduler.sched_interval));
}

void Controller::run(Seconds now) {
  const site::SchedulerSettings& settings = state_.site.config.scheduler;
  if (time_changes(now)) touch(now);
  last_run_ = now;
  if (std::exchange(pass_now_, false)) pass(now, false);
  if (now >= next_full_ && full_pass_due_) {
    pass(now, true);
    full_pass_due_ = pass_queued_ = false;
    last_loop_ = now;
    const Seconds interval = full_interval();
    next_full_ += ((now - next_full_) / interval + 1) * interval;
  } else if (pass_queued_ && now - last_loop_ >= in_seconds(settings.batch_sched_delay)) {
    pass(now, false);
    pass_queued_ = false;
    last_loop_ = now;
  }
  if (decays() && now >= next_decay_) {
    decay(now);
    const Seconds period = in_seconds(state_.site.config.priority.calc_period);
    next_decay_ += ((now - next_decay_) / period + 1) * period;
  }
  if (cycle_due_ && now >= next_cycle_ && backfills()) {
    cycle_due_ = false;
    cycle(now);
    next_cycle_ = now + bf_interval();
  }
}

bool Controller::awaits_decay() const {
  const site::Site& site = state_.site;
  const auto is_limit = [](const site::GroupLimits& each) {
    return !each.tres_minutes.empty() || each.wall != kNoDuration;
  };
  const bool has_limits =
      std::any_of(site.associations.begin(), site.associations.end(),
                  [&](const site::Association& each) { return is_limit(each.group); }) ||
      std::any_of(site.qos.begin(), site.qos.end(),
                  [&](const site::Qos& each) { return is_limit(each.group); });
  if (!has_limits || !state_.limits.is_on() || site.associations.empty()) return false;
  // What has decayed to nothing holds no job back any more.
  return site.config.priority.decay_half_life > Duration{0} &&
         state_.priorities->usage().of(0).raw > 1;
}

Seconds Controller::next(Seconds now) const {
  const site::SchedulerSettings& settings = state_.site.config.scheduler;
  if (pass_now_ || time_changes(now)) return now;
  Seconds next = kNothingDue;
  if (is_waiting()) {
    if (pass_queued_) {
      next = std::min(next, last_loop_ + in_seconds(settings.batch_sched_delay));
    }
    if (full_pass_due_) next = std::min(next, next_full_);
    if (cycle_due_ && backfills()) next = std::min(next, next_cycle_);
    for (const JobNumber number : dormant_) {
      const Job& job = *state_.find(number);
      if (job.ask.begin > now) next = std::min(next, job.ask.begin);
    }
    if (const Seconds change = state_.reservations.next_change(now); change > 0) {
      next = std::min(next, change);
    }
  }
  if (decays() && (!state_.running().empty() || (is_waiting() && awaits_decay()))) {
    next = std::min(next, next_decay_);
  }
  return std::max(next, now);
}

ReasonName Controller::reason(JobNumber number) const {
  const Job* const job = state_.find(number);
  if (job == nullptr || job->is_running) return kNone;
  if (job->reason != kNone) return job->reason;
  // Passes do not touch the jobs behind the one that blocks their partition.
  const bool is_behind =
      std::any_of(job->partitions.begin(), job->partitions.end(),
                  [&](PartitionAt partition) { return pass_.has_failed(partition); });
  return is_behind ? kPriority : kNone;
}

}  // namespace almanac::slurmctld
