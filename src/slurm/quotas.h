// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which of a site's quotas (slurm::Limits) a job counts for: Slurm starts no job beyond them,
/// whatever its place, and lets others pass it.
///
/// Source   acct_policy.c of Slurm 22.05, and seen: a job that runs counts for its QOS and for its
///          association and all above; whether it may start says its QOS alone where that has a
///          quota, else each of these. Where its user has an association for its partition that
///          is its own, and not the one for any; a user who has one may not ask several
///          partitions at once.
/// Differs  counted are the GPUs of GrpTRES whatever their type. Limits of a job, of each user of a
///          QOS, of minutes or of jobs are Slurm's alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "slurm/job.h"
#include "slurm/node.h"

namespace almanac::slurm {

/// Whether limits are more than numbers at this site.
bool enforces_limits(const Site& site);

/// "account science", "user ann of account science", "QOS high".
std::string whose(const Quota& quota);

class QuotaFinder {
 public:
  /// Quotas by their place in Limits::quotas.
  struct Found {
    std::vector<std::uint32_t> counted{};
    std::vector<std::uint32_t> asked{};  ///< Those of them that say whether it may start.
  };

  /// `limits` must outlive it.
  explicit QuotaFinder(const Limits& limits) : limits_(limits) {}

  /// Cost: O(quotas) for the first job of an account, user, partition and QOS; then O(log n).
  const Found& of(const Job& job);

 private:
  using Whose = std::tuple<std::string, std::string, std::string, std::string>;

  /// The partition of the job, where its user has an association for it; "" = none is known.
  std::string own_partition(const Job& job) const;
  bool counts(const Quota& quota, const Job& job, const std::string& own_partition) const;

  const Limits& limits_;
  std::map<Whose, Found> found_;
};

}  // namespace almanac::slurm
