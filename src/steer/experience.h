// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a decider keeps from one round to the next: the names of users and jobs, and what it has
/// learned from jobs that ended.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "policy/contract/host.h"
#include "schedule/hosts.h"
#include "steer/beliefs.h"
#include "steer/mirror.h"
#include "steer/world.h"
#include "trace/trace.h"

namespace almanac::steer {

/// Not thread-safe.
class Experience {
 public:
  /// Learns from `lessons`, ended jobs of this cluster, as `policy` believes.
  Experience(const policy::Composition& policy, trace::Trace lessons);
  Experience(const Experience&) = delete;
  Experience& operator=(const Experience&) = delete;

  /// All names, and the jobs of the round that is planned.
  trace::Trace& log() { return log_; }
  /// Whether the policy lets jobs share GPUs.
  bool lets_share() const { return lets_share_; }
  /// What the policy sees of a job. For a policy that lets jobs share GPUs, a job of shards asks
  /// for whole GPUs: the policy chooses with which jobs it shares them.
  trace::Request request_of(const manager::Job& job, const World& world);
  Duration believed(const manager::Job& job, const World& world) {
    return believed(job, request_of(job, world));
  }
  Duration believed(const manager::Job& job, const trace::Request& request) {
    return beliefs_.of(job.number, request);
  }
  /// An estimator for the policy of one round (Beliefs::for_round()).
  std::unique_ptr<predict::Estimator> estimator(const std::vector<manager::JobNumber>& jobs,
                                                const std::vector<Beliefs::Handle*>& handles) {
    return beliefs_.for_round(jobs, handles);
  }
  std::shared_ptr<predict::TypeSpeeds> type_speeds() const { return type_speeds_; }
  /// Usage so far: the manager's own figures if it keeps fair share, else that of the jobs learned
  /// from and of those that run. Null for a policy that does not read it.
  schedule::PastUses past_use(const Mirror& mirror, const World& world);

  void learn(const manager::Job& ended, const World& world);
  /// Jobs learned from since the start.
  std::size_t learned() const { return learned_; }
  /// Forgets a job that is gone or has another number now.
  void forget(manager::JobNumber job) { beliefs_.forget(job); }

 private:
  bool lets_share_;
  bool reads_past_use_;
  trace::Trace log_;
  Beliefs beliefs_;
  std::size_t learned_ = 0;
  std::shared_ptr<predict::TypeSpeeds> type_speeds_ = std::make_shared<predict::TypeSpeeds>();
  std::vector<policy::PastUse> learned_use_;
};

}  // namespace almanac::steer
