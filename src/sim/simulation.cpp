// SPDX-License-Identifier: Apache-2.0
#include "sim/simulation.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <optional>
#include <queue>

#include "base/check.h"
#include "sim/breakdowns.h"
#include "sim/end_queue.h"
#include "sim/instances.h"
#include "sim/pacer.h"
#include "sim/queue_rules.h"
#include "sim/sample.h"
#include "sim/sample_interval.h"
#include "sim/services.h"

namespace almanac::sim {
namespace {

using cluster::Power;
using policy::Event;
using policy::EventKind;
using policy::Phase;

class Engine final : public schedule::Actuator {
 public:
  Engine(const trace::Trace& trace, const cluster::Cluster& cluster, policy::Policy& policy,
         const Options& options)
      : trace_(trace),
        cluster_(cluster),
        changes_(cluster.changes),
        logged_(trace.jobs.size()),
        options_(options),
        takes_cpu_jobs_(cluster.counts_cpus()),
        has_sources_(options.services != nullptr || options.incidents != nullptr ||
                     options.failures != nullptr || options.truth.speeds != nullptr ||
                     !cluster.changes.empty()),
        round_(cluster, trace, policy, *this, options.restart, options.seed, options.policy),
        ends_(trace.jobs.size()),
        gaps_(cluster, options.nodes.boot, options.nodes.least_sleep),
        instances_(cluster) {
    // A future that is imagined knows nothing of what the log says of it.
    if (options.keeps_queue_rules && options.truth.run_times == nullptr) {
      dependencies_ = Dependencies(trace, cluster);
      withdrawals_ = Withdrawals(trace, cluster);
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
      round_.observe(options.believed != nullptr ? options.believed : options.truth.speeds,
                     &*pacer_);
    }
  }

  Schedule run();

  void start(JobId job) override {
    const policy::Progress& state = round_.progress(job);
    for (const cluster::Grant& grant : round_.grants(job)) {
      gaps_.take(grant.node, now_);
      if (!on_node_.empty()) on_node_[index(grant.node)].push_back(job);
    }
    if (instances_.any()) round_.charge(job, instances_.make(round_.grants(job)));
    if (is_replica(job)) return start_replica(job);
    end_wait(job);
    if (const auto found = result_.resumed.find(job);
        found != result_.resumed.end() && found->second == kNoTime) {
      found->second = now_;
    }
    if (withdrawals_.has(job)) return start_withdrawn(job);
    if (breakdowns_) breakdowns_->started(job, now_, state.attained);
    const Duration work = runs_[index(job)] + state.charged;
    if (pacer_) {
      pacer_->start(job, round_.grants(job), work + options_.restart.launch, now_,
                    round_.config(job));
    } else {
      const Duration left = std::max(Duration{0}, work - state.attained);
      const Time begins = boots_.empty() ? now_ : when_on(round_.grants(job));
      if (begins > now_) begin_later(job, begins);
      ends_.push(begins + left + options_.restart.launch, job);
    }
  }
  void stop(JobId job) override {
    if (is_replica(job)) options_.services->stopped(job, now_);
    if (breakdowns_ && !is_replica(job)) {
      const trace::Request& request = trace_.jobs[index(job)].request;
      breakdowns_->stopped(job, position(job),
                           options_.restart.of(request, Duration{0}, round_.grants(job), {}));
    }
    halt(job);
  }
  void resize(JobId job) override {
    if (pacer_ && !is_replica(job))
      pacer_->resize(job, round_.grants(job), now_, round_.config(job));
  }
  void end(JobId job, bool runs) override {
    if (is_replica(job)) options_.services->ended(job, now_);
    dependencies_.release(job);
    if (!runs) return end_wait(job);
    if (breakdowns_ && !is_replica(job)) breakdowns_->ended(job);
    if (!is_replica(job)) pacer_ ? pacer_->stop(job, now_) : ends_.erase(job);
    give_back(job);
  }
  void scale(policy::ServiceId service, int replicas) override {
    options_.services->scale(service, replicas, now_);
  }
  void decline(JobId job) override {
    dependencies_.release(job);
    end_wait(job);
    result_.never.emplace_back(job, policy::Reason{.kind = policy::ReasonKind::declined,
                                                   .wanted = trace_.jobs[index(job)].request.gpus});
  }
  void sleep(NodeId) override {}
  void boot(NodeId node) override {
    // Boots all take as long: the queue is in order.
    boots_.emplace_back(now_ + options_.nodes.boot, node);
    boot_ends_.resize(cluster_.nodes.size(), kNoTime);
    boot_ends_[index(node)] = now_ + options_.nodes.boot;
    ++result_.nodes.nodes_woken;
    if (last_wake_up_ != now_) ++result_.nodes.wake_ups;
    last_wake_up_ = now_;
  }

 private:
  bool is_replica(JobId job) const { return index(job) >= logged_; }
  void start_replica(JobId job);
  /// Starts a job that was withdrawn. Its run time is unknown, so it ends at once.
  void start_withdrawn(JobId job);
  void gather_withdrawals();
  void check_order_of_arrivals() const;
  void gather_arrivals();
  void join(JobId job);
  void begin_later(JobId job, Time at);
  void begin_wait(JobId job) {
    if (options_.watch.log_waits) wait_log_.begin(job, now_);
  }
  void end_wait(JobId job) {
    if (options_.watch.log_waits) wait_log_.end(job, now_);
  }
  policy::Reason throttle_reason(JobId job) const {
    return {.kind = policy::ReasonKind::at_limit,
            .slurm = policy::slurm_reason("JobArrayTaskLimit"),
            .wanted = trace_.jobs[index(job)].request.gpus};
  }
  void gather_replicas_gone();
  void gather_replicas_come();
  void begin();
  void resume(const Present& from);
  void decide();
  bool is_over() const {
    return interrupted() || (options_.range.until_ended != kNoJob &&
                             round_.progress(options_.range.until_ended).phase == Phase::ended);
  }
  Time next_event();
  /// Returns the time of the next event other than jobs and timers.
  Time next_of_others() const;
  /// Whether anything else is to come: in most runs nothing is.
  bool has_others() const { return has_sources_ || !boots_.empty(); }
  void gather_events();
  void gather_others();
  /// When the last of these nodes is on.
  Time when_on(std::span<const cluster::Grant> held) const {
    Time at = now_;
    for (const cluster::Grant& grant : held) {
      if (round_.ledger().power(grant.node) != Power::booting) continue;
      at = std::max(at, boot_ends_[index(grant.node)]);
    }
    return at;
  }
  void give_back(JobId job) {
    for (const cluster::Grant& grant : round_.grants(job)) {
      gaps_.give_back(grant.node, now_);
      if (!on_node_.empty()) std::erase(on_node_[index(grant.node)], job);
    }
  }
  void set_nodes(const cluster::CapacityChange& change);
  void take_incidents();
  void take_incident(const cluster::Incident& incident);
  void set_signal(const cluster::Incident& incident);
  void skip_incidents(Time until);
  void set_drained(NodeId node, bool drained) {
    round_.set_drained(node, drained);
    gaps_.set_drained(node, drained, now_);
  }
  void fail_node(NodeId node);
  /// Takes a job off its GPUs once the round has.
  void halt(JobId job) {
    if (!is_replica(job)) {
      pacer_ ? pacer_->stop(job, now_) : ends_.erase(job);
      begin_wait(job);
    }
    give_back(job);
  }
  /// Returns a job's work done, less what it repeats (sim/breakdowns.h).
  Duration position(JobId job) const {
    const policy::Progress& state = round_.progress(job);
    const bool runs = state.phase == Phase::running;
    const Duration attained =
        state.attained + (runs ? std::max(Duration{0}, now_ - state.since) : Duration{0});
    const auto worked = pacer_ ? pacer_->worked(job, now_) : std::nullopt;
    return worked.value_or(attained) - state.charged;
  }
  void take_failures();
  void break_node(const Breakdowns::Event& event);
  void break_job(JobId job, const Breakdowns::Event& event);
  void rejoin(JobId job);
  void skip_jobs_left_out();
  void sample_until(Time until);
  void integrate_until(Time until);
  void watch();
  void watch_pace(JobId job);
  void finish();
  double gpus_computing() const {
    return pacer_ ? pacer_->computing_gpus() : std::numeric_limits<double>::quiet_NaN();
  }
  bool interrupted() const {
    return options_.watch.stop != nullptr && options_.watch.stop->load(std::memory_order_relaxed);
  }

  const trace::Trace& trace_;
  const cluster::Cluster& cluster_;
  const std::vector<cluster::CapacityChange>& changes_;
  std::size_t logged_;  // jobs; those behind them are replicas
  const Options& options_;
  bool takes_cpu_jobs_;
  bool has_sources_;  // services, incidents, changes of capacity, or jobs that report
  std::optional<policy::Quotas> quotas_;  // none = GPUs are all that limits jobs
  schedule::Round round_;
  EndQueue ends_;
  std::optional<Pacer> pacer_;  // none = every job runs as recorded
  IdleGaps gaps_;
  Instances instances_;
  std::vector<Duration> runs_;  // of the jobs, in one array, because jobs start out of order
  std::priority_queue<Time, std::vector<Time>, std::greater<>> wakes_;
  std::deque<std::pair<Time, NodeId>> boots_;
  std::vector<Time> boot_ends_;  // of each node that ever booted
  Time last_wake_up_ = kNoTime;
  std::vector<Event> events_;
  std::size_t next_arrival_ = 0;
  std::size_t next_change_ = 0;
  std::size_t next_incident_ = 0;
  std::vector<std::vector<JobId>> on_node_;  // that run there; empty where no node can go down
  std::vector<policy::Signal> signals_;
  std::optional<SignalMeter> meter_;      // where there are signals
  std::optional<Breakdowns> breakdowns_;  // where failures are drawn
  std::vector<Duration> works_;           // run times without checkpoints, likewise
  Time now_{};
  Time next_sample_{};
  Duration interval_{};
  WaitLog wait_log_;
  Dependencies dependencies_;
  Withdrawals withdrawals_;
  std::unordered_map<JobId, Time> joined_;
  Schedule result_;
};

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
    const bool pauses = breakdowns_ && breakdowns_->any_pauses();  // and comes again
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
    dependencies_.release(job);
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
    dependencies_.release(job);
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
    } else if (options_.watch.log_waits && dependencies_.is_throttled(job)) {
      wait_log_.hold(job, now_, throttle_reason(job));
    }
    ++next_arrival_;
    skip_jobs_left_out();
  }
  while (dependencies_.any_released()) {
    const JobId job = dependencies_.take();
    if (now_ > options_.range.last_arrival) continue;
    if (trace_.jobs[index(job)].request.submit < now_) joined_[job] = now_;
    join(job);
  }
}

void Engine::join(JobId job) {
  const auto reason = round_.admit(job, {.since = now_});
  if (reason) {
    result_.never.emplace_back(job, *reason);
    dependencies_.release(job);
    return;
  }
  if (withdrawals_.has(job)) {
    if (withdrawals_.at(job) <= now_) {  // it was gone before anything could be decided
      round_.withdraw(now_, job);
      dependencies_.release(job);
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

void Engine::take_incidents() {
  const std::vector<cluster::Incident>& all = options_.incidents->all;
  const std::size_t before = next_incident_;
  for (; next_incident_ < all.size() && all[next_incident_].at <= now_; ++next_incident_) {
    take_incident(all[next_incident_]);
  }
  if (next_incident_ == before) return;
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.kind < b.kind; });
}

void Engine::take_incident(const cluster::Incident& incident) {
  using Kind = cluster::Incident::Kind;
  const NodeId node{incident.subject};
  const bool is_of_node = incident.kind == Kind::down || incident.kind == Kind::up;
  // What happens to a node that a service has for itself is not simulated.
  if (is_of_node && options_.services != nullptr && options_.services->owns(node)) return;
  switch (incident.kind) {
    case Kind::down:
      if (round_.ledger().drained(node)) return;
      fail_node(node);
      set_drained(node, true);
      events_.push_back({EventKind::node_down, incident.subject});
      break;
    case Kind::up:
      if (!round_.ledger().drained(node)) return;
      set_drained(node, false);
      events_.push_back({EventKind::node_up, incident.subject});
      break;
    case Kind::notice:
      events_.push_back({EventKind::node_notice, incident.subject, incident.value});
      break;
    case Kind::signal:
      set_signal(incident);
      events_.push_back({EventKind::signal_changed, incident.subject, incident.value});
      break;
  }
}

void Engine::set_signal(const cluster::Incident& incident) {
  policy::Signal& signal = signals_[incident.subject];
  signal.value = incident.value;
  signal.since = incident.at;
  meter_->set(incident.subject, incident.value);
}

void Engine::fail_node(NodeId node) {
  const std::vector<JobId> lost = on_node_[index(node)];
  for (const JobId job : lost) {
    // Twice there, for two pieces of one job.
    if (round_.progress(job).phase != Phase::running) continue;
    round_.fail(now_, job);
    stop(job);
    ++result_.failed_runs;
    events_.push_back({EventKind::job_failed, static_cast<std::uint32_t>(index(job))});
  }
}

void Engine::take_failures() {
  const std::size_t before = events_.size();
  while (const auto event = breakdowns_->take(now_)) {
    const auto node = static_cast<std::uint32_t>(index(event->node));
    switch (event->kind) {
      case Breakdowns::Kind::repaired:
        if (!breakdowns_->take_back(event->node, now_)) break;
        set_drained(event->node, false);
        events_.push_back({EventKind::node_up, node});
        break;
      case Breakdowns::Kind::announced:
        if (round_.ledger().drained(event->node)) break;
        events_.push_back({EventKind::node_notice, node, seconds(event->fails_at - now_)});
        break;
      case Breakdowns::Kind::node_failed:
        break_node(*event);
        break;
      case Breakdowns::Kind::job_failed:
        break_job(event->job, *event);
        break;
      case Breakdowns::Kind::retried:
        rejoin(event->job);
        break;
    }
  }
  if (events_.size() == before) return;
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.kind < b.kind; });
}

void Engine::break_node(const Breakdowns::Event& event) {
  const NodeId node = event.node;
  if (round_.ledger().drained(node)) return;
  if (options_.services != nullptr && options_.services->owns(node)) return;
  const std::vector<JobId> on_it = on_node_[index(node)];
  for (const JobId job : on_it) {
    // Twice there, for two pieces of one job.
    if (round_.progress(job).phase != Phase::running) continue;
    if (breakdowns_->stops(event, round_.grants(job))) break_job(job, event);
  }
  // Jobs that a failed link does not stop keep the node in service. Jobs that a failed GPU does not
  // stop continue, and no other job starts on the node.
  if (!on_node_[index(node)].empty() && breakdowns_->stays(event)) return;
  set_drained(node, true);
  events_.push_back({EventKind::node_down, static_cast<std::uint32_t>(index(node))});
  if (const auto spare = breakdowns_->send_out(now_, event)) {
    set_drained(*spare, false);
    events_.push_back({EventKind::node_up, static_cast<std::uint32_t>(index(*spare))});
  }
}

void Engine::break_job(JobId job, const Breakdowns::Event& event) {
  events_.push_back({EventKind::job_failed, static_cast<std::uint32_t>(index(job))});
  ++result_.failed_runs;
  if (is_replica(job)) {
    round_.fail(now_, job);
    return stop(job);
  }
  round_.fail(now_, job, breakdowns_->fail(now_, job, position(job), event));
  halt(job);
  const Time again = breakdowns_->retry(now_, job);
  if (again == now_) return;
  round_.withdraw(now_, job);
  if (again == kNever) dependencies_.release(job);
  end_wait(job);
  events_.push_back({EventKind::job_withdrawn, static_cast<std::uint32_t>(index(job))});
}

/// A job that has paused waits again.
void Engine::rejoin(JobId job) {
  const policy::Progress& state = round_.progress(job);
  const auto reason = round_.admit(job, {.since = now_,
                                         .start = state.start,
                                         .attained = state.attained,
                                         .charged = state.charged,
                                         .preemptions = state.preemptions,
                                         .tenant = state.tenant});
  ALMANAC_CHECK(!reason, "job {} has run and can never start", index(job));
  begin_wait(job);
  events_.push_back({EventKind::job_arrived, static_cast<std::uint32_t>(index(job))});
}

void Engine::set_nodes(const cluster::CapacityChange& change) {
  round_.set_nodes(change.vc, change.nodes);
  const cluster::VirtualCluster& vc = cluster_.vcs[index(change.vc)];
  for (std::uint32_t offset = 0; offset < vc.num_nodes; ++offset) {
    const NodeId node{static_cast<std::uint32_t>(index(vc.first)) + offset};
    gaps_.set_drained(node, round_.ledger().drained(node), now_);
  }
}

void Engine::sample_until(Time until) {
  for (; next_sample_ < until; next_sample_ += interval_) {
    if (options_.timeline_interval == Duration{0} && result_.timeline.size() >= kMostSamples) {
      thin_out(result_.timeline);
      interval_ *= 2;
    }
    result_.timeline.push_back(sample_of(next_sample_, round_.load(), round_.ledger()));
    result_.timeline.back().gpus_computing = gpus_computing();
    if (pacer_) result_.timeline.back().gpus_spared = pacer_->spared_gpus();
  }
}

void Engine::integrate_until(Time until) {
  const double step = seconds(until - now_);
  const cluster::Ledger& ledger = round_.ledger();
  result_.busy_gpu_s += step * ledger.busy_gpus();
  result_.total_gpu_s += step * ledger.total_gpus();
  if (pacer_) result_.spared_gpu_s += step * pacer_->spared_gpus();
  if (meter_) meter_->add(now_, until, ledger, pacer_ ? pacer_->spared_gpus() : 0);
  NodeUse& nodes = result_.nodes;
  nodes.on_gpu_s += step * ledger.gpus(Power::on);
  if (ledger.nodes(Power::booting) + ledger.nodes(Power::asleep) > 0) {
    nodes.booting_gpu_s += step * ledger.gpus(Power::booting);
    nodes.asleep_gpu_s += step * ledger.gpus(Power::asleep);
    nodes.asleep_node_s += step * ledger.nodes(Power::asleep);
  }
  Window& window = result_.window;
  const Duration inside = std::min(until, window.until) - std::max(now_, window.from);
  if (inside <= Duration{0}) return;
  const double span = seconds(inside);
  window.total_gpu_s += span * ledger.total_gpus();
  window.busy_gpu_s += span * ledger.busy_gpus();
  window.computing_gpu_s += span * gpus_computing();
  if (ledger.total_cpu_milli() == 0) return;
  window.total_cpu_s += span * 1e-3 * static_cast<double>(ledger.total_cpu_milli());
  window.busy_cpu_s += span * 1e-3 * static_cast<double>(ledger.busy_cpu_milli());
}

void Engine::watch() {
  const JobId job = options_.watch.job;
  if (job == kNoJob) return;
  if (pacer_) watch_pace(job);
  std::vector<Wait>& waits = result_.waits;
  const policy::Progress& state = round_.progress(job);
  const bool is_bound = state.phase == Phase::running && state.since > now_;
  if (is_bound && (waits.empty() || waits.back().until != state.since)) {
    const int gpus = trace_.jobs[index(job)].request.gpus;
    waits.push_back({now_, state.since, {.kind = policy::ReasonKind::booting, .wanted = gpus}});
  }
  const bool is_throttled = dependencies_.is_throttled(job);
  if (state.phase != Phase::waiting && !is_throttled) return;
  const policy::Reason reason = is_throttled ? throttle_reason(job) : round_.why_waiting(now_, job);
  if (!waits.empty() && waits.back().until == kNever) {
    // Numbers that drift while the kind stays are one reason; the first ones are kept.
    const policy::Reason& last = waits.back().reason;
    if (last.kind == reason.kind && last.slurm == reason.slurm && last.other == reason.other) {
      return;
    }
    waits.back().until = now_;
  }
  waits.push_back({now_, kNever, reason});
}

void Engine::watch_pace(JobId job) {
  std::vector<PaceChange>& paces = result_.paces;
  const bool runs = round_.progress(job).phase == Phase::running;
  const PaceChange pace = runs ? pacer_->explain(job, round_.grants(job), now_) : PaceChange{};
  if (!paces.empty() && paces.back().until == kNever) {
    PaceChange& last = paces.back();
    if (runs && last.rate == pace.rate && last.cpus == pace.cpus) return;
    last.until = now_;
    // Two changes at one instant: the first did not last.
    if (last.until == last.at) paces.pop_back();
  }
  if (runs) paces.push_back(pace);
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

/// What they did to nodes and jobs is in the state to continue from; signals keep their values.
void Engine::skip_incidents(Time until) {
  if (options_.incidents == nullptr) return;
  const std::vector<cluster::Incident>& all = options_.incidents->all;
  for (; next_incident_ < all.size() && all[next_incident_].at <= until; ++next_incident_) {
    const cluster::Incident& each = all[next_incident_];
    if (each.kind == cluster::Incident::Kind::signal) set_signal(each);
  }
}

void Engine::resume(const Present& from) {
  now_ = result_.begin = from.at;
  next_sample_ = kNever;
  result_.window.until = from.at;
  while (next_arrival_ < trace_.jobs.size() &&
         trace_.jobs[next_arrival_].request.submit <= from.at) {
    ++next_arrival_;
  }
  skip_jobs_left_out();
  dependencies_.resume(from, next_arrival_);
  while (next_change_ < changes_.size() && changes_[next_change_].at <= from.at) ++next_change_;
  skip_incidents(from.at);
  for (std::uint32_t node = 0; node < cluster_.nodes.size(); ++node) {
    round_.set_drained(NodeId{node}, false);
  }
  gaps_.begin(now_);
  for (const Present::Job& each : from.running) {
    const auto reason = round_.adopt(each.job, each.held, each.past);
    ALMANAC_CHECK(!reason, "job {} runs and can never start", index(each.job));
    for (const cluster::Grant& grant : each.held) {
      gaps_.take(grant.node, now_);
      if (!on_node_.empty()) on_node_[index(grant.node)].push_back(each.job);
    }
    if (instances_.any()) instances_.make(each.held);
    const Duration work = runs_[index(each.job)] + each.past.charged + options_.restart.launch;
    if (pacer_) {
      pacer_->credit(each.job, each.worked);
      pacer_->start(each.job, round_.grants(each.job), work, now_);
    } else {
      ends_.push(std::max(now_, each.past.since + (work - each.past.attained)), each.job);
    }
    if (breakdowns_) {
      breakdowns_->started(each.job, now_, each.past.attained + (now_ - each.past.since));
    }
    events_.push_back({EventKind::job_adopted, static_cast<std::uint32_t>(index(each.job))});
  }
  for (const Present::Job& each : from.waiting) {
    const auto reason = round_.admit(each.job, each.past);
    ALMANAC_CHECK(!reason, "job {} waits and can never start", index(each.job));
    if (pacer_) pacer_->credit(each.job, each.worked);
    if (withdrawals_.has(each.job)) withdrawals_.await(each.job);
    if (each.past.start != kNoTime) result_.resumed.emplace(each.job, kNoTime);
    events_.push_back({EventKind::job_arrived, static_cast<std::uint32_t>(index(each.job))});
  }
  for (const NodeId node : from.drained) set_drained(node, true);
  if (breakdowns_) breakdowns_->resume(from.drained, now_);
  if (!events_.empty()) decide();
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
    if (events_.empty()) continue;
    decide();
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

}  // namespace

bool is_simulated(const trace::Request& request, const cluster::Cluster& cluster) {
  return request.gpus > 0 || cluster.counts_cpus();
}

Schedule simulate(const trace::Trace& trace, const cluster::Cluster& cluster,
                  policy::Policy& policy, const Options& options) {
  return Engine(trace, cluster, policy, options).run();
}

}  // namespace almanac::sim
