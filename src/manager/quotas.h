// SPDX-License-Identifier: Apache-2.0

/// \file
/// The quotas of a site (Limits) that a job counts against: the manager starts no job beyond them,
/// whatever its position, and lets others overtake it.
///
/// Source   acct_policy.c of Slurm 22.05, and observed: a running job counts against its QOS, its
///          association and all associations above. Its QOS alone decides whether it may start, if
///          that has a quota; otherwise each of the associations. If its user has an association
///          for its partition, that association counts and not the general one; such a user may not
///          request several partitions at once.
/// Differs  counts the GPUs of GrpTRES whatever their type. Limits per job, per user of a QOS, of
///          minutes or of jobs are left to the manager.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "manager/job.h"
#include "manager/node.h"

namespace almanac::manager {

/// "account science", "user ann of account science", "QOS high".
std::string whose(const Quota& quota);

class QuotaFinder {
 public:
  /// Quotas by their place in Limits::quotas.
  struct Found {
    std::vector<std::uint32_t> counted{};
    std::vector<std::uint32_t> asked{};  ///< Those of them that decide whether it may start.
  };

  /// `limits` must outlive it.
  explicit QuotaFinder(const Limits& limits) : limits_(limits) {}

  /// Cost: O(quotas) for the first job of an account, user, partition and QOS; then O(log n).
  const Found& of(const Job& job);

 private:
  using Whose = std::tuple<std::string, std::string, std::string, std::string>;

  /// Returns the partition of the job, if its user has an association for it; "" if none is known.
  std::string own_partition(const Job& job) const;
  bool counts(const Quota& quota, const Job& job, const std::string& own_partition) const;

  const Limits& limits_;
  std::map<Whose, Found> found_;
};

}  // namespace almanac::manager
