// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides which running jobs should have fewer cores, by the part of the policy that changes what
/// jobs hold (coda, and all with adaptive or halve).
///
/// The policy's round lasts from look to look (slimming_round.h). A job joins with what the manager
/// allocated; a job that has ended, or holds something else, leaves. No job ever gets more than
/// the manager allocated, and each job starts with that, whatever other jobs of its name needed.
///
/// A job whose GPUs have been 10 % less busy for five minutes gets all cores back, and keeps them.
///
/// Cost     O(running jobs) a look.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/contract/contract.h"
#include "steer/agents.h"
#include "steer/job_use.h"
#include "steer/mirror.h"
#include "steer/node_reports.h"
#include "steer/policies.h"
#include "steer/settings.h"
#include "steer/slimming_round.h"
#include "steer/world.h"

namespace almanac::steer {

/// Not thread-safe.
class Slimmer final : public policy::Telemetry {
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
  /// The jobs that should have fewer cores than the manager allocated, with their cores on these
  /// nodes.
  const std::map<manager::JobNumber, Cores>& wanted() const { return wanted_; }
  /// Why: "its GPUs are 99 % as busy as with all its cores".
  std::string why(manager::JobNumber job) const;
  /// The use of a running job; null if it does not run, or is unknown.
  const JobUse* use(manager::JobNumber job) const;
  /// The last report of the agent of a node; null if there is none of the last 30 s.
  const agent::Report* report(const std::string& node) const { return nodes_.fresh(node, now_); }
  /// One line for each job that could not be limited.
  std::vector<std::string> troubles() const;

  // Telemetry for the policy.
  std::optional<double> gpu_use(JobId job) const override;
  bool will_know_gpu_use(JobId) const override { return false; }
  std::optional<double> bandwidth_gbs(JobId job) const override;
  std::optional<double> bandwidth_gbs(NodeId node) const override {
    return nodes_.bandwidth_gbs(round_->name(node), now_);
  }
  Duration renewed_every() const override { return measuring_.every; }
  std::optional<Duration> worked(JobId, Time) const override { return std::nullopt; }

 private:
  struct Running {
    JobId id{};
    bool is_in_round = false;
    bool is_left_alone = false;           // its GPUs were hurt
    bool grew = false;                    // the policy would give it more than the manager
    std::vector<cluster::Grant> given{};  // by the manager
    Cores cores{};                        // that it is to have, where these are fewer
    JobUse use;
  };

  void begin(std::shared_ptr<const World> world, const Settings& settings);
  void take(const std::vector<Agents::Told>& reports);
  void follow(const Mirror& mirror, const Settings& settings);
  void leave(Running& running);
  void note_wanted();
  /// Notes that other cores are held on the nodes of this job from now on.
  void touch(const Running& running);
  Cores cores_held(const Running& running) const;
  const Running* running_of(JobId job) const;

  Slimming policy_;
  perf::Measuring measuring_;
  Time now_{};
  std::shared_ptr<const World> world_;
  std::unique_ptr<SlimmingRound> round_;
  std::map<manager::JobNumber, Running> running_;
  std::map<manager::JobNumber, Cores> wanted_;
  NodeReports nodes_;
};

}  // namespace almanac::steer
