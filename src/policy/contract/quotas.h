// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs that jobs may hold together and no more: those of an account, of a user, of a QOS, of a
/// tenant.
///
/// A claim is what a job means to quotas: it counts for some quotas while it runs, and may start
/// where some of these have room for it. Jobs that claim the same are in the same position, so all
/// questions are asked of claims. What is held is as the plan so far would leave it, like the
/// ledger of GPUs.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"

namespace almanac::policy {

class Quotas {
 public:
  /// What a job claims, by numbers of quotas. `asked` are those that must have room for it.
  struct Claim {
    std::vector<std::uint32_t> counted{};
    std::vector<std::uint32_t> asked{};
    int gpus = 0;
    int gpu_milli = 1000;  ///< Thousandths of each of them that count.

    std::int64_t milli() const { return std::int64_t{gpus} * gpu_milli; }
    auto operator<=>(const Claim&) const = default;
  };

  /// One more quota, of so many GPUs; they are numbered from 0.
  void add(double gpus) { quotas_.push_back({.most = std::llround(gpus * 1e3)}); }
  bool empty() const { return quotas_.empty(); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(quotas_.size()); }
  /// Its number; equal claims have equal ones. One on nothing is kNoClaim.
  ClaimId claim(const Claim& claim);
  /// What `job` claims. It holds nothing yet.
  void put(JobId job, ClaimId claim);
  ClaimId of(JobId job) const {
    return index(job) < of_job_.size() ? of_job_[index(job)] : kNoClaim;
  }

  const Claim& operator[](ClaimId claim) const { return claims_[index(claim)]; }
  /// The claim of so many GPUs on the same quotas; of none, on none.
  ClaimId sized(ClaimId claim, int gpus);
  /// `job`, which holds nothing, claims so many GPUs of the same quotas.
  void ask(JobId job, int gpus) { put(job, sized(of(job), gpus)); }

  /// GPUs.
  double most(std::uint32_t quota) const { return static_cast<double>(quotas_[quota].most) / 1e3; }
  double held(std::uint32_t quota) const { return static_cast<double>(quotas_[quota].held) / 1e3; }
  /// Whether one more job that claims this may start.
  bool has_room(ClaimId claim) const;
  /// A job starts that claims this, for which there must be room.
  void take(ClaimId claim);
  /// The same for one that runs already, room or no room.
  void adopt(ClaimId claim) { count(claim, +1); }
  void give_back(ClaimId claim) { count(claim, -1); }
  /// Whether `job`, which holds what it claims, may go on with another claim.
  bool may_change(JobId job, ClaimId claim);
  /// It goes on with that; for more than it had there must be room.
  void change(JobId job, ClaimId claim);
  /// GPUs that count as held beside what the plan takes; a number below 0 takes that back.
  void hold(std::uint32_t quota, int gpus) { quotas_[quota].held += gpus * 1'000; }

 private:
  struct Quota {
    std::int64_t most = 0;  // thousandths of a GPU
    std::int64_t held = 0;
  };

  void count(ClaimId claim, int sign);

  std::vector<Quota> quotas_;
  std::vector<Claim> claims_{Claim{}};  // by ClaimId
  std::map<Claim, ClaimId> numbers_;
  std::vector<ClaimId> of_job_;
};

}  // namespace almanac::policy
