// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policy and the jobs that it knows: those that wait in its queue or run.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "machine/measured.h"
#include "machine/outage.h"
#include "machine/state.h"
#include "policy/composition.h"
#include "policy/contract/host.h"
#include "predict/estimator.h"
#include "schedule/admission.h"
#include "schedule/round.h"
#include "trace/trace.h"

namespace almanac::machine {

/// The next policy, and what it has learned.
struct Successor {
  policy::Composition composition{};
  std::unique_ptr<trace::Trace> trace{};  ///< Without jobs yet; shares names with the estimator.
  std::unique_ptr<predict::Estimator> estimator{};
  std::vector<policy::PastUse> past_use{};  ///< Of jobs that ended before.
  Time taught_until{};  ///< It has learned from jobs that ended before this time.
  bool is_taught = true;
};

/// Passes events to the policy and runs its rounds. Requires the lock of `State`.
class Queue {
 public:
  Queue(State& state, policy::Composition composition);

  const policy::Composition& composition() const { return composition_; }
  /// The round of the current policy. Requires an earlier begin().
  schedule::Round& round() const { return *round_; }
  Measured& measured() { return measured_; }

  /// While the queue is held back, no round runs and nothing starts.
  bool is_held_back() const { return is_held_back_; }
  void hold_back(bool holds) { is_held_back_ = holds; }

  /// Returns why no such job can ever run here; nothing if it can.
  std::optional<std::string> why_never(const store::Job& job);
  /// Returns the cores and memory that a waiting job lacks (machine/room_short.h).
  std::string room_short(const Entry& entry);
  /// Adds a job to the queue; returns why it can never run.
  std::optional<policy::Reason> join(Entry& entry);
  /// Informs the policy that a job neither runs nor waits any more.
  void finish(Entry& entry, Time at);
  /// Removes a waiting job from the queue.
  void withdraw(Entry& entry);
  /// Makes the policy forget a job.
  void forget(Entry& entry);
  /// Passes on a report of a running job; returns whether the policy uses it.
  bool report(const Report& report);
  void set_out_of_service(NodeId node, const Outage& outage);

  bool is_waiting(const Entry& entry) const { return is_in(entry, policy::Phase::waiting); }
  Names& names() const { return trace_->names; }
  bool is_running(const Entry& entry) const { return is_in(entry, policy::Phase::running); }
  /// Number of jobs that the policy has seen since it began.
  std::size_t size() const { return numbers_.size(); }
  store::JobNumber number_of(JobId job) const { return numbers_[index(job)]; }
  Entry& entry_of(JobId job) const { return *state_.book.find(number_of(job)); }
  /// Returns the policy's record of a job.
  trace::Job& record_of(const Entry& entry) const { return trace_->jobs[index(entry.id)]; }

  /// Adds an event for the timers that have expired.
  void fire_timers();
  /// Runs one round; returns false if there is no event, or if the queue is held back.
  bool run_round();
  /// Returns when a round is due.
  Time next_round() const;

  /// Whether most jobs that the policy knows have ended, so that it should restart without them.
  bool is_worn() const;
  /// Hands over the current policy for destruction by the caller; null if there is none.
  std::shared_ptr<void> release();
  struct Refused {
    Entry* entry;
    policy::Reason why;
  };
  /// Starts another policy with all jobs that the previous one knew. Returns those that can never
  /// run under it. Requires release() first.
  std::vector<Refused> begin(Successor next, schedule::Actuator& actuator, const Outage& outage);

 private:
  bool is_in(const Entry& entry, policy::Phase phase) const {
    return entry.id != kNoJob && round_->progress(entry.id).phase == phase;
  }
  /// Returns the trial reports in the store so far, for the next policy.
  policy::PastReports past_reports() const;

  State& state_;
  policy::Composition composition_;
  std::unique_ptr<trace::Trace> trace_ = std::make_unique<trace::Trace>();
  std::vector<store::JobNumber> numbers_;  // by JobId
  Measured measured_;
  std::optional<schedule::Admission> admission_;
  std::unique_ptr<policy::Policy> policy_;
  std::unique_ptr<schedule::Round> round_;
  std::vector<policy::Event> events_;
  std::set<Time> wakes_;
  bool is_held_back_ = false;
};

}  // namespace almanac::machine
