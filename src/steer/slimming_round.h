// SPDX-License-Identifier: Apache-2.0

/// \file
/// The round of a policy that changes what running jobs hold. It lasts from look to look, because
/// such a policy learns by trying, over minutes; rounds of the decider last for one look
/// (decider.h). It knows running jobs only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "policy/contract/contract.h"
#include "schedule/round.h"
#include "steer/policies.h"
#include "steer/world.h"
#include "trace/trace.h"

namespace almanac::steer {

/// Not thread-safe.
class SlimmingRound final : public schedule::Actuator {
 public:
  /// A round without jobs. Nodes have `bandwidth_gbs` of memory bandwidth. The policy asks
  /// `telemetry`, which outlives this, for measurements of jobs by their JobId.
  SlimmingRound(const Slimming& policy, std::shared_ptr<const World> world, double bandwidth_gbs,
                const policy::Telemetry& telemetry);
  ~SlimmingRound() override;
  SlimmingRound(const SlimmingRound&) = delete;
  SlimmingRound& operator=(const SlimmingRound&) = delete;

  /// Adds a job with what the manager allocated to it. Returns kNoJob if the round cannot have it.
  JobId adopt(const manager::Job& job, std::span<const cluster::Grant> held, Time now);
  /// Removes a job that has ended or is no longer the policy's.
  void end(JobId job, Time now);
  /// Lets the policy decide on all jobs adopted and ended since the last decision.
  void decide(Time now);
  /// For a policy that does not decide: drops its pending events.
  void discard_events() { events_.clear(); }

  /// What the policy wants the job to hold, grant by grant as adopted.
  std::span<const cluster::Grant> grants(JobId job) const { return round_->grants(job); }
  manager::JobNumber number(JobId job) const { return numbers_[index(job)]; }
  const std::string& name(NodeId node) const { return cluster_.nodes[index(node)].name; }
  /// Jobs adopted so far: the round remembers each of them.
  std::size_t jobs() const { return numbers_.size(); }

 private:
  void start(JobId) override {}
  void stop(JobId) override {}
  void resize(JobId) override {}
  void sleep(NodeId) override {}
  void boot(NodeId) override {}

  std::shared_ptr<const World> world_;
  cluster::Cluster cluster_;  // that of world_, with bandwidth
  trace::Trace trace_;
  std::unique_ptr<policy::Policy> mind_;
  std::unique_ptr<schedule::Round> round_;
  std::vector<policy::Event> events_;
  std::vector<manager::JobNumber> numbers_;  // by JobId
};

}  // namespace almanac::steer
