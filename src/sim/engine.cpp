// SPDX-License-Identifier: Apache-2.0
#include "sim/engine.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "sim/sample_interval.h"

namespace almanac::sim {

using policy::Event;
using policy::EventKind;
using policy::Phase;

Engine::Engine(const trace::Trace& trace, const cluster::Cluster& cluster, policy::Policy& policy,
               const Options& options)
    : trace_(trace),
      cluster_(cluster),
      changes_(cluster.changes),
      logged_(trace.jobs.size()),
      options_(options),
      takes_cpu_jobs_(cluster.counts_cpus()),
      has_sources_(options.services != nullptr || options.incidents != nullptr ||
                   options.failures != nullptr || options.truth.speeds != nullptr ||
                   !cluster.changes.empty() || !options.closures.empty()),
      round_(cluster, trace, policy, *this, options.restart, options.seed, options.policy),
      ends_(trace.jobs.size()),
      gaps_(cluster, options.nodes.boot, options.nodes.least_sleep),
      instances_(cluster) {
  // A future that is imagined knows what users requested, and nothing else that the log says of it.
  if (options.keeps_queue_rules && options.truth.run_times == nullptr) {
    dependencies_ = Dependencies(trace, cluster);
    withdrawals_ = Withdrawals(trace, cluster);
  } else if (options.keeps_queue_rules) {
    dependencies_ = Dependencies::of_arrays(trace, cluster);
  }
  runs_.reserve(trace.jobs.size());
  if (options.truth.run_times != nullptr) {
    runs_ = *options.truth.run_times;
  } else {
    for (const trace::Job& job : trace.jobs) runs_.push_back(job.outcome.run);
  }
  if (options.services != nullptr) round_.show(options.services->states());
  if (options.failures != nullptr && !trace.jobs.empty()) {
    on_node_.resize(cluster.nodes.size());
    const Present* const from = options.range.from;
    breakdowns_.emplace(*options.failures, cluster, trace, options.seed,
                        from != nullptr ? from->at : trace.jobs.front().request.submit);
    works_ = runs_;
    for (std::size_t job = 0; job < runs_.size(); ++job) {
      runs_[job] += breakdowns_->writes(JobId{static_cast<std::uint32_t>(job)}, works_[job]);
    }
  }
  if (!options.closures.empty()) closures_.emplace(trace, options.closures);
  if (options.incidents != nullptr) {
    on_node_.resize(cluster.nodes.size());
    for (const std::string& name : options.incidents->signals) signals_.push_back({.name = name});
    if (!signals_.empty()) meter_.emplace(cluster, options.incidents->signals);
    round_.show(signals_);
  }
  if (options.quotas != nullptr) round_.keep(quotas_.emplace(*options.quotas));
  if (options.truth.speeds != nullptr) {
    pacer_.emplace(cluster, trace, *options.truth.speeds, ends_, options.truth.progress,
                   options.truth.applications);
    round_.observe(options.believed != nullptr ? options.believed : options.truth.speeds, &*pacer_);
  }
}

void Engine::skip_jobs_left_out() {
  if (takes_cpu_jobs_) return;
  while (next_arrival_ < logged_ && trace_.jobs[next_arrival_].request.gpus == 0) {
    ++next_arrival_;
  }
}

Time Engine::next_event() {
  Time at = kNever;
  if (next_arrival_ < logged_) at = trace_.jobs[next_arrival_].request.submit;
  if (at > options_.range.last_arrival) at = kNever;
  if (!ends_.empty()) at = std::min(at, ends_.next());
  if (dependencies_.any_released()) at = std::min(at, now_);
  while (withdrawals_.any() && round_.progress(withdrawals_.job()).phase != Phase::waiting) {
    withdrawals_.take();
  }
  if (withdrawals_.any()) at = std::min(at, withdrawals_.next());
  if (at == kNever) {
    // What else may happen matters only while there are jobs.
    Services* const services = options_.services;
    const bool serves = services != nullptr && services->go_on();
    const bool pauses = (breakdowns_ && breakdowns_->any_pauses()) ||  // and comes again
                        (closures_ && closures_->keeps_any());
    const bool is_idle = serves ? services->is_stuck() : round_.load().jobs_waiting == 0;
    if (is_idle && !pauses) return kNever;
  }
  if (!wakes_.empty()) at = std::min(at, wakes_.top());
  return has_others() ? std::min(at, next_of_others()) : at;
}

Time Engine::next_of_others() const {
  Time at = kNever;
  if (options_.services != nullptr) at = std::min(at, options_.services->next());
  if (pacer_) at = std::min(at, pacer_->next_report());
  if (!boots_.empty()) at = std::min(at, boots_.front().first);
  if (next_change_ < changes_.size()) at = std::min(at, changes_[next_change_].at);
  if (options_.incidents != nullptr && next_incident_ < options_.incidents->all.size()) {
    at = std::min(at, options_.incidents->all[next_incident_].at);
  }
  if (breakdowns_) {
    const bool all_came = next_arrival_ == logged_ ||
                          trace_.jobs[next_arrival_].request.submit > options_.range.last_arrival;
    const bool nothing_left = round_.load().jobs_running == 0 && all_came;
    at = std::min(at, breakdowns_->next(nothing_left));
  }
  if (closures_) at = std::min(at, closures_->next());
  return at;
}

void Engine::gather_events() {
  events_.clear();
  while (!ends_.empty() && ends_.next() == now_) {
    const JobId job = ends_.job();
    ends_.pop();
    if (pacer_) pacer_->end(job, now_);
    if (breakdowns_) breakdowns_->ended(job);
    give_back(job);
    round_.end(now_, job);
    release_dependents(job);
    events_.push_back({EventKind::job_ended, static_cast<std::uint32_t>(index(job))});
  }
  if (options_.services != nullptr) gather_replicas_gone();
  if (withdrawals_.any()) gather_withdrawals();
  gather_arrivals();
  if (has_others()) gather_others();
  bool woken = false;
  for (; !wakes_.empty() && wakes_.top() <= now_; wakes_.pop()) woken = true;
  if (woken) events_.push_back({EventKind::timer, 0});
}

void Engine::gather_withdrawals() {
  while (withdrawals_.any() && withdrawals_.next() <= now_) {
    const JobId job = withdrawals_.take();
    if (round_.progress(job).phase != Phase::waiting) continue;
    round_.withdraw(now_, job);
    release_dependents(job);
    end_wait(job);
    events_.push_back({EventKind::job_withdrawn, static_cast<std::uint32_t>(index(job))});
  }
}

void Engine::gather_arrivals() {
  while (now_ <= options_.range.last_arrival && next_arrival_ < logged_ &&
         trace_.jobs[next_arrival_].request.submit == now_) {
    const JobId job{static_cast<std::uint32_t>(next_arrival_)};
    if (!dependencies_.hold(job, round_, breakdowns_ ? &*breakdowns_ : nullptr)) {
      join(job);
    } else {
      note_throttle(job);
    }
    ++next_arrival_;
    skip_jobs_left_out();
  }
  while (dependencies_.any_released()) {
    const JobId job = dependencies_.take();
    if (may_join(job)) join(job);
  }
}

bool Engine::may_join(JobId job) const {
  if (now_ <= options_.range.last_arrival) return true;
  const Present* const from = options_.range.from;
  return from != nullptr && std::binary_search(from->throttled.begin(), from->throttled.end(), job);
}

void Engine::release_dependents(JobId job) {
  for (const JobId each : dependencies_.release(job)) {
    if (now_ > options_.range.last_arrival) continue;
    if (trace_.jobs[index(each)].request.submit < now_) joined_[each] = now_;
    note_throttle(each);
  }
}

void Engine::join(JobId job) {
  if (keep_if_closed(job, {.since = now_})) return;
  const auto reason = round_.admit(job, {.since = now_});
  if (reason) {
    result_.never.emplace_back(job, *reason);
    release_dependents(job);
    return;
  }
  if (withdrawals_.has(job)) {
    if (withdrawals_.at(job) <= now_) {  // it was gone before anything could be decided
      round_.withdraw(now_, job);
      release_dependents(job);
      return;
    }
    withdrawals_.await(job);
  }
  events_.push_back({EventKind::job_arrived, static_cast<std::uint32_t>(index(job))});
  begin_wait(job);
}

void Engine::gather_others() {
  if (options_.services != nullptr) gather_replicas_come();
  while (pacer_ && pacer_->next_report() <= now_) {
    const JobId job = pacer_->next_reporter();
    const auto told = pacer_->report(round_.grants(job), now_);
    if (!told) continue;
    events_.push_back({EventKind::job_reported, static_cast<std::uint32_t>(index(job)), *told});
  }
  for (; next_change_ < changes_.size() && changes_[next_change_].at <= now_; ++next_change_) {
    const cluster::CapacityChange& change = changes_[next_change_];
    set_nodes(change);
    events_.push_back({EventKind::capacity_changed, static_cast<std::uint32_t>(index(change.vc))});
  }
  for (; !boots_.empty() && boots_.front().first <= now_; boots_.pop_front()) {
    const NodeId node = boots_.front().second;
    // The node may have been drained meanwhile, and booted again.
    const bool boots = round_.ledger().power(node) == cluster::Power::booting;
    if (!boots || boot_ends_[index(node)] != now_) continue;
    round_.booted(node);
    const VcId vc = cluster_.nodes[index(node)].vc;
    const Event ready{EventKind::capacity_changed, static_cast<std::uint32_t>(index(vc))};
    const Event* const last = events_.empty() ? nullptr : &events_.back();
    if (last == nullptr || last->kind != ready.kind || last->subject != ready.subject) {
      events_.push_back(ready);
    }
  }
  if (options_.incidents != nullptr) take_incidents();
  if (breakdowns_) take_failures();
  if (closures_) take_closures();
}

bool Engine::keep_if_closed(JobId job, const schedule::Past& past) {
  const Time until = closures_ ? closures_->closed_until(job, now_) : kNoTime;
  if (until == kNoTime) return false;
  closures_->keep(job, until, past);
  return true;
}

void Engine::close_nodes() {
  for (const Closures::Change& each : closures_->take_changes(now_)) {
    set_drained(each.node, each.drained);
    const VcId vc = cluster_.nodes[index(each.node)].vc;
    events_.push_back({EventKind::capacity_changed, static_cast<std::uint32_t>(index(vc))});
  }
}

void Engine::take_closures() {
  const std::size_t before = events_.size();
  close_nodes();
  for (JobId job = closures_->take_look(now_); job != kNoJob; job = closures_->take_look(now_)) {
    const policy::Progress& state = round_.progress(job);
    if (state.phase != Phase::waiting) continue;
    const schedule::Past past{.since = state.since,
                              .start = state.start,
                              .attained = state.attained,
                              .charged = state.charged,
                              .preemptions = state.preemptions,
                              .tenant = state.tenant};
    if (!keep_if_closed(job, past)) continue;
    round_.withdraw(now_, job);
    end_wait(job);
    events_.push_back({EventKind::job_withdrawn, static_cast<std::uint32_t>(index(job))});
  }
  for (const Closures::Kept& each : closures_->take_released(now_)) {
    if (keep_if_closed(each.job, each.past)) continue;  // the next window is near
    if (const auto reason = round_.admit(each.job, each.past)) {
      result_.never.emplace_back(each.job, *reason);
      release_dependents(each.job);
      continue;
    }
    events_.push_back({EventKind::job_arrived, static_cast<std::uint32_t>(index(each.job))});
    begin_wait(each.job);
  }
  if (events_.size() == before) return;
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.kind < b.kind; });
}

void Engine::start_withdrawn(JobId job) {
  if (pacer_) {
    pacer_->start(job, round_.grants(job), Duration{0}, now_, round_.config(job));
  } else {
    ends_.push(now_, job);
  }
}

void Engine::begin_later(JobId job, Time at) {
  round_.begins_later(now_, job, at);
  if (!options_.watch.log_waits) return;
  wait_log_.boot(job, now_, at, trace_.jobs[index(job)].request.gpus);
}

void Engine::start_replica(JobId job) {
  const Time begins = boots_.empty() ? now_ : when_on(round_.grants(job));
  if (begins > now_) round_.begins_later(now_, job, begins);
  options_.services->started(job, begins);
}

void Engine::gather_replicas_gone() {
  options_.services->advance(now_);
  std::vector<Event> withdrawn;
  for (const JobId job : options_.services->take_gone()) {
    const auto subject = static_cast<std::uint32_t>(index(job));
    if (round_.progress(job).phase == Phase::running) {
      give_back(job);
      round_.end(now_, job);
      events_.push_back({EventKind::job_ended, subject});
    } else {
      round_.withdraw(now_, job);
      withdrawn.push_back({EventKind::job_withdrawn, subject});
    }
  }
  events_.insert(events_.end(), withdrawn.begin(), withdrawn.end());
}

void Engine::gather_replicas_come() {
  for (const NodeId node : options_.services->take_given_back()) {
    set_drained(node, false);
    events_.push_back({EventKind::node_up, static_cast<std::uint32_t>(index(node))});
  }
  for (const JobId job : options_.services->take_come()) {
    if (const auto reason = round_.admit(job)) {
      options_.services->refused(job, *reason);
    } else {
      events_.push_back({EventKind::job_arrived, static_cast<std::uint32_t>(index(job))});
    }
  }
}

void Engine::set_nodes(const cluster::CapacityChange& change) {
  round_.set_nodes(change.vc, change.nodes);
  const cluster::VirtualCluster& vc = cluster_.vcs[index(change.vc)];
  for (std::uint32_t offset = 0; offset < vc.num_nodes; ++offset) {
    const NodeId node{static_cast<std::uint32_t>(index(vc.first)) + offset};
    gaps_.set_drained(node, round_.ledger().drained(node), now_);
  }
}

void Engine::begin() {
  skip_jobs_left_out();
  if (next_arrival_ < logged_) {
    result_.begin = trace_.jobs[next_arrival_].request.submit;
    const Duration span = trace_.jobs.back().request.submit - result_.begin;
    result_.window.from = result_.begin + options_.warm_up;
    result_.window.until = trace_.jobs.back().request.submit;
    interval_ = options_.timeline_interval > Duration{0} ? options_.timeline_interval
                                                         : fitting_interval(span);
    const Duration since_zero = result_.begin.time_since_epoch();
    next_sample_ = Time{(since_zero / interval_) * interval_};
    if (next_sample_ < result_.begin) next_sample_ += interval_;
    now_ = result_.begin;
    if (options_.services != nullptr) {
      options_.services->begin(now_);
      for (const NodeId node : options_.services->own_nodes()) round_.set_drained(node, true);
      wakes_.push(now_);
    }
    gaps_.begin(now_);
    for (std::uint32_t node = 0; node < cluster_.nodes.size(); ++node) {
      gaps_.set_drained(NodeId{node}, round_.ledger().drained(NodeId{node}), now_);
    }
    while (next_change_ < changes_.size() && changes_[next_change_].at == Time::min()) {
      ++next_change_;
    }
    if (breakdowns_) {
      for (const NodeId spare : breakdowns_->spares()) set_drained(spare, true);
    }
  }
}

/// A job that arrives before the one ahead of it would never be met: the run would not end.
void Engine::check_order_of_arrivals() const {
  for (std::size_t at = next_arrival_ + 1; at < logged_; ++at) {
    const Time before = trace_.jobs[at - 1].request.submit;
    const Time submit = trace_.jobs[at].request.submit;
    ALMANAC_CHECK(before <= submit,
                  "the trace is not in order of submission: job {} at {} ms, then job {} at {} ms",
                  at - 1, before.time_since_epoch().count(), at, submit.time_since_epoch().count());
  }
}

/// Lets the policy answer the events of this instant.
void Engine::decide() {
  result_.events += events_.size();
  const policy::Telemetry* const telemetry = pacer_ ? &*pacer_ : nullptr;
  if (options_.watch.listener != nullptr)
    options_.watch.listener->hear(now_, events_, round_, telemetry);
  round_.run(now_, events_);
  for (const Time wake : round_.wakes()) wakes_.push(wake);
  if (options_.watch.listener != nullptr) options_.watch.listener->decided(now_, round_, telemetry);
}

void Engine::tell_throttled() {
  for (const JobId task : throttled_) {
    if (options_.watch.listener == nullptr) break;
    options_.watch.listener->throttled(now_, task, round_, pacer_ ? &*pacer_ : nullptr);
  }
  throttled_.clear();
}

Schedule Engine::run() {
  const auto wall_start = std::chrono::steady_clock::now();
  options_.range.from == nullptr ? begin() : resume(*options_.range.from);
  check_order_of_arrivals();
  for (Time at = next_event(); at != kNever && !is_over(); at = next_event()) {
    at = std::max(at, now_);  // a change of capacity may lie before the first arrival
    // A policy may decide several times at one instant.
    if (options_.watch.log_waits && at > now_) wait_log_.look(now_, round_);
    sample_until(at);
    integrate_until(at);
    now_ = at;
    gather_events();
    if (!events_.empty()) decide();
    tell_throttled();
    if (events_.empty() && !dependencies_.is_throttled(options_.watch.job)) continue;
    if (options_.watch.job != kNoJob) {
      const Phase phase = round_.progress(options_.watch.job).phase;
      if (phase != Phase::waiting && !dependencies_.is_throttled(options_.watch.job) &&
          !result_.waits.empty() && result_.waits.back().until == kNever) {
        result_.waits.back().until = now_;
      }
      watch();
    }
    if (options_.watch.arrived != nullptr) {
      options_.watch.arrived->store(static_cast<std::uint32_t>(next_arrival_),
                                    std::memory_order_relaxed);
    }
  }
  finish();
  result_.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start).count();
  return std::move(result_);
}

void Engine::finish() {
  result_.finish = now_;
  result_.interrupted = interrupted();
  result_.held_back = round_.held_back();
  result_.sleep_bound = gaps_.end(now_);
  if (meter_) result_.signal_uses = meter_->uses();
  if (interval_ > Duration{0}) sample_until(now_ + Duration{1});  // else there was no job
  if (pacer_) result_.pace_log = pacer_->take_log(now_);
  result_.job_waits = wait_log_.take(now_);
  if (options_.services != nullptr) options_.services->finish(now_);
  std::vector<policy::Progress> progress = round_.take_progress();
  progress.resize(logged_);
  if (breakdowns_) result_.failures = breakdowns_->take_log(progress, works_, now_);
  withdrawals_.mark(progress);
  result_.jobs = JobResults(std::move(progress), now_, std::move(joined_));
  result_.grants = round_.take_grants();
}

}  // namespace almanac::sim
