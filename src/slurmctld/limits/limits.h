// SPDX-License-Identifier: Apache-2.0

/// \file
/// Limits of associations and QOS, and what running jobs use of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "site/site.h"
#include "slurmctld/jobs/job.h"
#include "slurmctld/priority/usage.h"

namespace almanac::slurmctld {

/// What the running jobs of an association, of a QOS, or of a user or account in a QOS hold
/// together.
struct Use {
  std::int64_t jobs = 0;
  std::map<site::TresIndex, std::int64_t> tres{};
  std::map<site::TresIndex, std::int64_t> run_seconds{};  ///< TRES times what is left of limits.
  std::map<NodeAt, int> nodes{};                          ///< Jobs on each node.
};

/// What a job would hold, and for how long.
struct Wanted {
  const site::TresCounts& tres;
  const Allocation& allocation;
  Seconds limit = 0;
};

/// Source   Slurm 22.05, slurmctld/acct_policy.c (acct_policy_job_runnable_pre_select,
///          acct_policy_job_runnable_post_select).
class Limits {
 public:
  /// `site` must outlive it.
  explicit Limits(const site::Site& site);

  /// Past usage, for limits on minutes; null = none is known.
  void set_usage(const UsageLedger* usage) { usage_ = usage; }
  /// Whether the site enforces limits.
  bool is_on() const { return is_on_; }

  /// Checks what does not depend on nodes: numbers of jobs and time limits. Returns the first
  /// reason in Slurm's order, or kNone.
  ReasonName before_nodes(const Job& job, PartitionAt partition, Seconds limit) const;
  /// Checks what the job would hold.
  ReasonName after_nodes(const Job& job, PartitionAt partition, const Wanted& wanted) const;

  void start(Job& job, const Wanted& wanted);
  /// Counts `elapsed` more seconds of a running job as used.
  void elapse(Job& job, Seconds elapsed);
  void end(Job& job);

 private:
  /// Positions in Site::qos, in the order in which their limits hold.
  std::vector<std::uint32_t> qos_of(const Job& job, PartitionAt partition) const;
  std::vector<std::uint32_t> chain_of(const Job& job) const;
  template <typename Act>
  void each_use(const Job& job, Act&& act);

  const site::Site& site_;
  const UsageLedger* usage_ = nullptr;
  bool is_on_ = false;
  std::vector<Use> by_association_;
  std::vector<Use> by_qos_;
  std::map<std::pair<std::uint32_t, std::string>, Use> by_qos_and_user_;
  std::map<std::pair<std::uint32_t, std::string>, Use> by_qos_and_account_;
  std::vector<std::uint32_t> partition_qos_;
};

}  // namespace almanac::slurmctld
