// SPDX-License-Identifier: Apache-2.0

/// \file
/// One round on a managed cluster: shows the policy the running and the waiting jobs, and notes
/// what it plans.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "perf/catalogue.h"
#include "policy/contract/contract.h"
#include "schedule/hosts.h"
#include "schedule/round.h"
#include "steer/decision.h"
#include "steer/experience.h"
#include "steer/freedom.h"
#include "steer/placing.h"
#include "steer/policies.h"
#include "steer/quotas.h"
#include "steer/roll.h"
#include "steer/round_jobs.h"
#include "steer/sharing.h"

namespace almanac::steer {

/// Restarts are charged nothing: the users know what a stopped job loses, Almanac does not.
inline constexpr schedule::RestartCost kNoRestartCost{
    .one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};

/// Not thread-safe.
class PlannedRound final : public schedule::Actuator {
 public:
  /// What the rounds of one decision have in common.
  struct Basis {
    const Mirror& mirror;
    Roll& roll;  ///< Of that mirror.
    const Exempt& exempt;
    std::span<const manager::Job> announced;
    const std::set<manager::JobNumber>& in_vain;
    const Chosen& policy;
    std::uint64_t seed;
    std::shared_ptr<const perf::Catalogue> speeds;
    schedule::PastUses past_use;
    Freedom* freedom;  ///< If the policy moves jobs by what that costs; else null.
  };

  /// Plans the round at `decision.at` on `decision.world`, and writes there which jobs it leaves
  /// out and when to wake up. `experience` and `decision` must outlive it.
  PlannedRound(const Basis& basis, Placing& placing, Experience& experience, Decision& decision);

  const schedule::Round& round() const { return *round_; }
  RoundJobs& jobs() { return jobs_; }
  const RoundJobs& jobs() const { return jobs_; }
  Quotas& quotas() { return quotas_; }
  /// Jobs that start, in order; also running jobs that were stopped and start again.
  const std::vector<JobId>& started() const { return started_; }
  /// Takes a start back.
  void withdraw(JobId job) { std::erase(started_, job); }
  void put_aside(manager::JobNumber job, Aside why) { decision_.aside.emplace(job, why); }
  std::vector<Decision::Clash> clashes() const;
  /// Why a waiting job does not start; nothing if the policy does not see it, or starts it.
  std::optional<policy::Reason> why(manager::JobNumber job);
  /// The line in which `newcomer` would stand; empty if it would stand in none. From now on it
  /// counts as waiting.
  std::vector<manager::JobNumber> line_with(const manager::Job& newcomer);

 private:
  void take_running(const Basis& basis);
  void take_nodes(const Mirror& mirror);
  void take_pinned(const Mirror& mirror, const Placing& placing);
  void take_waiting(const Basis& basis, Placing& placing);
  void take_announced(std::span<const manager::Job> announced);
  /// Sets what a running job loses by a move, for a policy that moves jobs.
  void set_loss(JobId id, const manager::Job& job, const Basis& basis);
  /// Tasks of a record that may as well run at once; at least 1.
  std::int64_t tasks_to_show(const manager::Job& job, JobId first, const Mirror& mirror);
  void let_jobs_share(const Basis& basis);
  void run();

  void start(JobId job) override { started_.push_back(job); }
  void stop(JobId job) override { withdraw(job); }
  void resize(JobId) override {}
  void sleep(NodeId) override {}
  void boot(NodeId) override {}

  const Chosen& policy_;
  Experience& experience_;
  Decision& decision_;
  RoundJobs jobs_;
  Quotas quotas_;
  Sharing sharing_;
  std::vector<policy::Event> events_;
  std::vector<JobId> started_;
  std::set<NodeId> off_;  // nodes that sleep or boot; to the policy they are as good as on
  std::unique_ptr<policy::Policy> mind_;
  std::unique_ptr<schedule::Round> round_;
};

}  // namespace almanac::steer
