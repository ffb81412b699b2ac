// SPDX-License-Identifier: Apache-2.0

/// \file
/// The engine behind simulate(): the state of a simulation, and what happens to it at each event.
///
/// Its parts: engine.cpp the loop over events, engine_failures.cpp what fails, engine_resume.cpp
/// the continuation of a state, engine_watch.cpp what is measured.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/incidents.h"
#include "policy/contract/contract.h"
#include "schedule/round.h"
#include "sim/breakdowns.h"
#include "sim/end_queue.h"
#include "sim/idle_gaps.h"
#include "sim/instances.h"
#include "sim/pacer.h"
#include "sim/queue_rules.h"
#include "sim/services.h"
#include "sim/signal_meter.h"
#include "sim/simulation.h"
#include "sim/wait_log.h"
#include "trace/trace.h"

namespace almanac::sim {

class Engine final : public schedule::Actuator {
 public:
  /// All references must outlive it.
  Engine(const trace::Trace& trace, const cluster::Cluster& cluster, policy::Policy& policy,
         const Options& options);

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
    release_dependents(job);
    if (!runs) return end_wait(job);
    if (breakdowns_ && !is_replica(job)) breakdowns_->ended(job);
    if (!is_replica(job)) pacer_ ? pacer_->stop(job, now_) : ends_.erase(job);
    give_back(job);
  }
  void scale(policy::ServiceId service, int replicas) override {
    options_.services->scale(service, replicas, now_);
  }
  void decline(JobId job) override {
    release_dependents(job);
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
  /// `job` has left: the jobs that depend on it are eligible from now on.
  void release_dependents(JobId job);
  /// Whether a job that waited for another, or for room in its array, may join the queue now.
  bool may_join(JobId job) const;
  /// Notes a job that cannot join the queue now, if that is because its array has no room.
  void note_throttle(JobId job) {
    if (!dependencies_.is_throttled(job)) return;
    throttled_.push_back(job);
    if (options_.watch.log_waits) wait_log_.hold(job, now_, throttle_reason(job));
  }
  void begin_later(JobId job, Time at);
  void begin_wait(JobId job) {
    if (options_.watch.log_waits) wait_log_.begin(job, now_);
    if (closures_ && !is_replica(job)) closures_->watch(job, now_);
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
  void tell_throttled();
  bool is_over() const {
    return interrupted() ||
           (options_.range.until_ended != kNoJob &&
            round_.progress(options_.range.until_ended).phase == policy::Phase::ended);
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
      if (round_.ledger().power(grant.node) != cluster::Power::booting) continue;
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
    const bool runs = state.phase == policy::Phase::running;
    const Duration attained =
        state.attained + (runs ? std::max(Duration{0}, now_ - state.since) : Duration{0});
    const auto worked = pacer_ ? pacer_->worked(job, now_) : std::nullopt;
    return worked.value_or(attained) - state.charged;
  }
  void take_failures();
  void break_node(const Breakdowns::Event& event);
  void break_job(JobId job, const Breakdowns::Event& event);
  void rejoin(JobId job);
  /// Keeps a job from the policy if it would run into a maintenance window.
  bool keep_if_closed(JobId job, const schedule::Past& past);
  void take_closures();
  /// Drains nodes whose window has begun, and gives back those whose window is over.
  void close_nodes();
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
  bool has_sources_;  // services, incidents, windows, changes of capacity, or jobs that report
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
  std::vector<policy::Event> events_;
  std::size_t next_arrival_ = 0;
  std::size_t next_change_ = 0;
  std::size_t next_incident_ = 0;
  std::vector<std::vector<JobId>> on_node_;  // that run there; empty where no node can go down
  std::vector<policy::Signal> signals_;
  std::optional<SignalMeter> meter_;      // where there are signals
  std::optional<Breakdowns> breakdowns_;  // where failures are drawn
  std::optional<Closures> closures_;      // where there are maintenance windows
  std::vector<Duration> works_;           // run times without checkpoints, likewise
  Time now_{};
  Time next_sample_{};
  Duration interval_{};
  WaitLog wait_log_;
  Dependencies dependencies_;
  std::vector<JobId> throttled_;  // at this instant
  Withdrawals withdrawals_;
  std::unordered_map<JobId, Time> joined_;
  Schedule result_;
};

}  // namespace almanac::sim
