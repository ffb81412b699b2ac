// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many GPUs accounts, their users and QOS may hold together, and how many they do: Slurm
/// starts no job beyond that, whatever its place, and lets others pass it.
///
/// Source   acct_policy.c of Slurm 22.05, and seen: a job that runs counts for its QOS and for its
///          association and all above; whether it may start says its QOS alone where that has a
///          quota, else each of these. Where its user has an association for its partition that
///          is its own, and not the one for any.
/// Differs  counted are the GPUs of GrpTRES whatever their type. Limits of a job, of each user of a
///          QOS, of minutes or of jobs are Slurm's alone.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "slurm/node.h"
#include "steer/mirror.h"

namespace almanac::steer {

/// Whether limits are more than numbers at this site.
bool enforces_limits(const slurm::Site& site);

class Quotas {
 public:
  static constexpr int kAny = std::numeric_limits<int>::max();

  /// With what runs. `mirror` must outlive it.
  explicit Quotas(const Mirror& mirror);

  bool empty() const { return quotas_.empty(); }
  /// GPUs that jobs like this may have yet.
  int left(const slurm::Job& job);
  /// One starts.
  void take(const slurm::Job& job, int gpus);
  /// "account science has 8 of 8 GPUs": of the quota that leaves least.
  std::string tightest(const slurm::Job& job);

 private:
  struct Of {
    const slurm::Quota* quota;
    int held = 0;

    int left() const { return quota->gpus - held; }
  };
  using Whose = std::tuple<std::string, std::string, std::string, std::string>;

  /// Of an association of the user for this partition; "" = there is none that is known.
  std::string own_partition(const slurm::Job& job) const;
  bool counts(const slurm::Quota& quota, const slurm::Job& job,
              const std::string& own_partition) const;
  /// Those that a job counts for.
  const std::vector<std::size_t>& of(const slurm::Job& job);

  const slurm::Limits& limits_;
  std::vector<Of> quotas_;
  std::map<Whose, std::vector<std::size_t>> found_;
};

}  // namespace almanac::steer
