// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides which running jobs should have fewer cores, by the part of the policy that changes what
/// jobs hold (coda, and all with adaptive or halve).
///
/// Such a policy learns by trying, over minutes, so its round goes on from look to look, unlike the
/// rounds of the decider (decider.h). It knows running jobs only. A job joins with what Slurm
/// allocated; a job that has ended, or holds something else, leaves. No job ever gets more than
/// Slurm allocated, and each job starts with that, whatever other jobs of its name needed.
///
/// A job whose GPUs have been 10 % less busy for five minutes gets all cores back, and keeps them.
///
/// Cost     O(running jobs) a look.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/contract/contract.h"
#include "schedule/round.h"
#include "steer/agents.h"
#include "steer/job_use.h"
#include "steer/mirror.h"
#include "steer/policies.h"
#include "steer/settings.h"
#include "steer/world.h"
#include "trace/trace.h"

namespace almanac::steer {

/// Not thread-safe.
class Slimmer final : public schedule::Actuator, public policy::Telemetry {
 public:
  explicit Slimmer(Slimming policy, const perf::Measuring& measuring = {});
  ~Slimmer() override;
  Slimmer(const Slimmer&) = delete;
  Slimmer& operator=(const Slimmer&) = delete;

  /// Decides by another policy from now on, and forgets everything.
  void decide_by(Slimming policy);

  /// Takes the reports of agents, and decides once.
  void look(const Mirror& mirror, std::shared_ptr<const World> world,
            const std::vector<Agents::Told>& reports, const Settings& settings);
  /// Whether the policy changes what jobs hold.
  bool slims() const { return policy_.slims(); }
  /// The jobs that should have fewer cores than Slurm allocated, with their cores on these nodes.
  const std::map<slurm::JobNumber, Cores>& wanted() const { return wanted_; }
  /// Why: "its GPUs are 99 % as busy as with all its cores".
  std::string why(slurm::JobNumber job) const;
  /// The use of a running job; null if it does not run, or is unknown.
  const JobUse* use(slurm::JobNumber job) const;
  /// The last report of the agent of a node; null if there is none.
  const agent::Report* report(const std::string& node) const;
  /// One line for each job that could not be limited.
  std::vector<std::string> troubles() const;

  // Telemetry for the policy.
  std::optional<double> gpu_use(JobId job) const override;
  bool will_know_gpu_use(JobId) const override { return false; }
  std::optional<double> bandwidth_gbs(JobId job) const override;
  std::optional<double> bandwidth_gbs(NodeId node) const override;
  Duration renewed_every() const override { return measuring_.every; }
  std::optional<Duration> worked(JobId, Time) const override { return std::nullopt; }

 private:
  struct Running {
    JobId id{};
    bool is_in_round = false;
    bool is_left_alone = false;            // its GPUs were hurt
    bool grew = false;                     // the policy would give it more than Slurm
    std::vector<cluster::Grant> slurms{};  // what Slurm gave
    Cores cores{};                         // that it is to have, where these are fewer
    JobUse use;
  };

  void begin(std::shared_ptr<const World> world, const Settings& settings);
  void take(const std::vector<Agents::Told>& reports);
  void follow(const Mirror& mirror, const Settings& settings);
  void adopt(const slurm::Job& job, Running& running);
  void leave(Running& running);
  void decide();
  void note_wanted();
  /// Something is another on the nodes of this job from now on.
  void touch(const Running& running);
  Cores cores_held(const Running& running) const;
  const Running* running_of(JobId job) const;

  void start(JobId) override {}
  void stop(JobId) override {}
  void resize(JobId) override {}
  void sleep(NodeId) override {}
  void boot(NodeId) override {}

  Slimming policy_;
  perf::Measuring measuring_;
  Time now_{};
  std::shared_ptr<const World> world_;
  cluster::Cluster cluster_;  // that of world_, with bandwidth
  trace::Trace trace_;
  std::unique_ptr<policy::Policy> mind_;
  std::unique_ptr<schedule::Round> round_;
  std::vector<policy::Event> events_;
  std::vector<slurm::JobNumber> numbers_;  // by JobId
  std::map<slurm::JobNumber, Running> running_;
  std::map<slurm::JobNumber, Cores> wanted_;
  struct Heard {
    agent::Report report{};
    Time at{};
  };
  std::map<std::string, Heard> heard_;   // by node
  std::map<std::string, Time> changed_;  // when a job began, ended or was held otherwise there
};

}  // namespace almanac::steer
