// SPDX-License-Identifier: Apache-2.0

/// \file
/// The priority of each job over time, to the integer: Slurm's priority/multifactor with usage,
/// decay, fair share and accrual.
///
/// Source   Slurm 22.05 to 25.11, priority_multifactor.c, fair_tree.c, acct_policy.c.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/time.h"
#include "site/site.h"
#include "slurmctld/priority/accrual.h"
#include "slurmctld/priority/association_tree.h"
#include "slurmctld/priority/factors.h"
#include "slurmctld/priority/fair_share.h"
#include "slurmctld/priority/fair_tree.h"
#include "slurmctld/priority/usage.h"
#include "text/time_zone.h"

namespace almanac::slurmctld {

struct PriorityJob {
  std::uint32_t number = 0;                 ///< Slurm's job number: the order of its job list.
  AssociationAt association = kNowhere;     ///< Position in Site::associations.
  std::uint32_t qos = kNowhere;             ///< Position in Site::qos.
  std::vector<std::uint32_t> partitions{};  ///< Positions in Site::partitions, as requested.
  Size size{};
  std::int64_t nice = 0;
  std::int64_t site_factor = 0;
};

/// A job's priority when it was last computed.
struct Score {
  Factors factors{};
  std::uint32_t priority = 0;  ///< 0 = held.
  /// With several partitions: the priority in each, as PriorityJob::partitions.
  std::vector<std::uint32_t> in_partition{};
};

/// Times count in whole seconds, as Slurm's do: fractions are cut off. Calls come in order of time.
/// Costs are per call; P, R and A are the numbers of pending jobs, running jobs and associations.
class Priorities {
 public:
  /// `site` must outlive it. `zone` is where the days of PriorityUsageResetPeriod begin.
  explicit Priorities(const site::Site& site,
                      text::TimeZone zone = text::TimeZone::find("UTC").value());
  Priorities(const Priorities&) = delete;
  Priorities& operator=(const Priorities&) = delete;

  /// Adds a pending job and computes its first priority, without age. It does not age before
  /// set_eligible().
  std::uint32_t submit(PriorityJob job, Time now);
  /// The job may start from `since` on: it was submitted, its begin time came, or what it depends
  /// on ended. It starts to age when the queue is built after that.
  void set_eligible(std::uint32_t number, Time since);
  /// The job depends on others again or its begin time was postponed: it loses its age.
  void set_ineligible(std::uint32_t number);
  /// Sets the priority to 0. The job loses its age.
  void hold(std::uint32_t number);
  /// Computes the priority of a held job. It is eligible from now on.
  void release(std::uint32_t number, Time now);
  /// A scheduler builds its queue: eligible jobs begin to age, in the order of their numbers, as
  /// far as limits let them. Cost: O(jobs that do not age yet).
  void build_queue(Time now);
  /// The select plugin found `cpus` CPUs for a pending job in a test.
  void set_total_cpus(std::uint32_t number, std::uint32_t cpus);
  /// The partition in which a scheduler tested the job last: priority() is of that one.
  void set_partition(std::uint32_t number, std::uint32_t partition);
  /// The job started in `partition`.
  void start(std::uint32_t number, Time now, std::uint32_t partition, site::TresCounts held);
  /// The job ended, or left the queue: charges its usage since the last pass and forgets it, unless
  /// keep_ended_jobs().
  void end(std::uint32_t number, Time at);
  /// The job stopped running, or has just ended, and waits again: charges its usage. It loses its
  /// age and is not eligible; its priority stays until the next pass.
  void requeue(std::uint32_t number, Time at);
  /// From now on, keeps ended jobs until their number is submitted again: for MinJobAge, Slurm
  /// shows them (CALCULATE_RUNNING) and computes their priority.
  void keep_ended_jobs() { keeps_ended_jobs_ = true; }
  /// Computes the priority of a pending job again, as an update of the job does.
  std::uint32_t update(std::uint32_t number, Time now);

  /// Decays usage, charges running jobs, ranks associations and computes the priority of pending
  /// jobs: what Slurm does each PriorityCalcPeriod. Cost: O(P + R + A log A).
  void pass(Time now);
  /// The time of the last pass; kNoTime before the first.
  Time last_pass() const { return last_pass_; }
  /// Replaces weights, flags and periods, as `scontrol reconfigure` does. Priorities change with
  /// the next pass.
  void reconfigure(const site::PrioritySettings& settings);
  /// Takes shares, priorities and limits of associations and QOS from `site`, as `sacctmgr modify`
  /// makes the controller do. `site` has the same associations and QOS, and must outlive this.
  void change_accounts(const site::Site& site);

  bool knows(std::uint32_t number) const { return jobs_.contains(number); }
  /// 0 = held. Cost of each: O(log jobs).
  std::uint32_t priority(std::uint32_t number) const { return score(number).priority; }
  /// In one of the job's partitions; 0 if it is not in that one.
  std::uint32_t priority(std::uint32_t number, std::uint32_t partition) const;
  const Score& score(std::uint32_t number) const { return jobs_.at(number).score; }
  /// From when the job ages; nothing: it does not.
  std::optional<Time> ages_since(std::uint32_t number) const;

  const Scales& scales() const { return scales_; }
  const AssociationTree& tree() const { return tree_; }
  const UsageLedger& usage() const { return usage_; }
  /// Of each association, from the last pass. With the classic formula, of users only if asked for.
  const std::vector<Standing>& standings() const { return standings_; }
  /// Classic: evaluates a user without a job since the last pass, as sshare makes Slurm do.
  void judge_user(AssociationAt at);
  /// The walk of fair tree in the last pass; empty with the classic formula.
  const std::vector<FairTreeStep>& walk() const { return walk_; }

 private:
  struct Record {
    PriorityJob job;
    std::uint32_t partition = kNowhere;  // that `priority` is of
    Time eligible = kNoTime;
    Time ages = kNoTime;
    Time submitted{};
    Time started = kNoTime;
    bool held = false;
    bool ended = false;
    bool counted = false;  // in accrual_
    double billable = 0;
    Score score{};
  };

  std::uint32_t qos_of(std::uint32_t partition) const;
  AccrualJob accrual_job(const Record& record) const;
  void begin_to_age(Record& record, Time since, bool limited);
  void stop_ageing(Record& record);
  double fair_share(AssociationAt association);
  std::uint32_t compute(Record& record, Time now);
  void charge(const Record& record, Time until);
  void reset_usage_if_due(Time now);

  const site::Site* site_;
  text::TimeZone zone_;
  Scales scales_;
  AssociationTree tree_;
  UsageLedger usage_;
  ClassicFairShare classic_;
  Accrual accrual_;
  std::vector<Standing> standings_;
  std::vector<FairTreeStep> walk_;
  std::vector<std::uint32_t> partition_qos_;  // of each partition
  std::map<std::uint32_t, Record> jobs_;
  std::set<std::uint32_t> ageless_;  // pending jobs that do not age yet
  bool keeps_ended_jobs_ = false;
  Time last_pass_ = kNoTime;
  Time next_reset_ = kNoTime;
};

}  // namespace almanac::slurmctld
