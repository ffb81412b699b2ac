// SPDX-License-Identifier: Apache-2.0

/// \file
/// Who may use a Slurm site, with what limits and shares: QOS and the tree of associations.
///
/// Source   sacctmgr(1), sshare(1) of Slurm 20.11 to 25.11.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "site/config.h"
#include "site/tres.h"

namespace almanac::site {

/// Usage with Slurm's decay, at Site::usage_at.
struct Usage {
  bool known = false;
  double raw = 0;  ///< Billing-seconds. sshare prints it truncated to a whole number.
  /// Seconds of each resource. sshare prints whole minutes.
  std::vector<std::pair<TresIndex, double>> tres{};
  double wall_s = 0;  ///< Run time of all jobs.

  bool operator==(const Usage&) const = default;
};

/// Limits that both an association and a QOS may have. Counts: kNoLimit for none.
struct GroupLimits {
  std::int64_t jobs = kNoLimit;
  std::int64_t jobs_accrue = kNoLimit;
  std::int64_t submit_jobs = kNoLimit;
  Duration wall = kNoDuration;  ///< kNoDuration for none.
  TresCounts tres{};
  TresCounts tres_minutes{};      ///< GrpTRESMins.
  TresCounts tres_run_minutes{};  ///< GrpTRESRunMins.

  bool operator==(const GroupLimits&) const = default;
};

/// Limits of one job.
struct JobLimits {
  Duration wall = kNoDuration;  ///< MaxWallDurationPerJob; kNoDuration for none.
  TresCounts tres{};
  TresCounts tres_per_node{};
  TresCounts tres_minutes{};

  bool operator==(const JobLimits&) const = default;
};

/// Limits of the jobs that one user, or one account, has in a QOS.
struct EachLimits {
  std::int64_t jobs = kNoLimit;
  std::int64_t jobs_accrue = kNoLimit;
  std::int64_t submit_jobs = kNoLimit;
  TresCounts tres{};
  TresCounts tres_run_minutes{};

  bool operator==(const EachLimits&) const = default;
};

struct QosFlags {
  bool deny_on_limit = false;
  bool enforce_usage_threshold = false;
  bool no_reserve = false;
  bool no_decay = false;
  bool over_part_qos = false;
  bool partition_max_nodes = false;
  bool partition_min_nodes = false;
  bool partition_time_limit = false;
  bool partition_qos = false;
  bool requires_reservation = false;
  bool usage_factor_safe = false;
  bool relative = false;  ///< TRES limits are in percent of the cluster or partition.

  bool operator==(const QosFlags&) const = default;
};

struct Qos {
  std::string name{};
  std::uint32_t priority = 0;
  double usage_factor = 1;
  double limit_factor = 0;              ///< 0 for none.
  double usage_threshold = -1;          ///< -1 for none.
  std::vector<std::string> preempts{};  ///< Jobs of these QOS may be preempted.
  PreemptMode preempt_mode = PreemptMode::cluster;
  bool preempt_within = false;
  Duration preempt_exempt_time = kNoDuration;  ///< kNoDuration: not set.
  Duration grace_time{0};
  QosFlags flags{};
  GroupLimits group{};
  JobLimits job{};
  EachLimits per_user{};
  EachLimits per_account{};
  TresCounts min_tres{};  ///< The least that a job must request.
  std::int64_t min_priority_threshold = kNoLimit;
  Usage usage{};

  bool operator==(const Qos&) const = default;
};

/// An account, a user of it, or a user of it in one partition.
struct Association {
  std::string account{};
  std::string user{};        ///< "" for the account itself.
  std::string partition{};   ///< "" for all partitions without an association of their own.
  std::int32_t parent = -1;  ///< Position in Site::associations, before its own; -1 for the root.
  std::int64_t shares = 1;   ///< kParent: fairshare=parent.
  std::uint32_t priority = 0;
  std::string default_qos{};
  std::vector<std::string> qos{};  ///< Allowed for its jobs, inherited ones included.
  bool is_default = false;         ///< The user's default account.
  GroupLimits group{};
  // Of the user's own jobs here. What it does not set it inherits from the nearest account above
  // that does; these are the effective values.
  std::int64_t max_jobs = kNoLimit;
  std::int64_t max_jobs_accrue = kNoLimit;
  std::int64_t max_submit_jobs = kNoLimit;
  JobLimits job{};
  std::int64_t min_priority_threshold = kNoLimit;
  Usage usage{};
  std::uint32_t id = 0;   ///< 0 if unknown.
  std::int64_t lft = -1;  ///< Order among ties until 23.02; -1 if unknown.
  std::string lineage{};  ///< Order among ties from 23.11 on; "" if unknown.

  static constexpr std::int64_t kParent = -1;

  bool is_account() const { return user.empty(); }
  bool operator==(const Association&) const = default;
};

}  // namespace almanac::site
