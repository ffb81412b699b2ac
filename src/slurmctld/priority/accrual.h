// SPDX-License-Identifier: Apache-2.0

/// \file
/// Limits on how many jobs grow older at a time: MaxJobsAccrue of users and accounts,
/// GrpJobsAccrue.
///
/// Source   Slurm 22.05 to 25.11, acct_policy_handle_accrue_time().
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "site/site.h"
#include "slurmctld/priority/association_tree.h"

namespace almanac::slurmctld {

/// Whose limits a job is under.
struct AccrualJob {
  AssociationAt association = kNowhere;
  std::uint32_t qos = kNowhere;
  std::uint32_t partition_qos = kNowhere;
};

/// Counts the jobs that wait and age.
class Accrual {
 public:
  /// `site` and `tree` must outlive it.
  Accrual(const site::Site& site, const AssociationTree& tree);

  /// Takes limits from `site`, which has the same associations and QOS and must outlive this.
  void change_limits(const site::Site& site) { site_ = &site; }

  enum class Verdict : std::uint8_t {
    unlimited,  ///< No limit applies: the job ages from when it became eligible.
    room,       ///< It ages from now on.
    full,       ///< It does not age yet.
  };
  Verdict judge(const AccrualJob& job) const;
  /// Counts a job that begins to age (`step` 1), or that started or left the queue (-1).
  void count(const AccrualJob& job, int step);

 private:
  struct QosCount {
    std::int64_t all = 0;
    std::map<std::uint32_t, std::int64_t> of_user{};
    std::map<std::uint32_t, std::int64_t> of_account{};
  };

  std::pair<std::uint32_t, std::uint32_t> ordered_qos(const AccrualJob& job) const;

  const site::Site* site_;
  const AssociationTree& tree_;
  std::vector<std::uint32_t> user_;     // of each association
  std::vector<std::uint32_t> account_;  // of each association
  std::vector<QosCount> qos_;
  std::vector<std::int64_t> below_;  // jobs of each association and all below it
};

}  // namespace almanac::slurmctld
