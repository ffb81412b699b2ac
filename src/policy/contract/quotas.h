// SPDX-License-Identifier: Apache-2.0

/// \file
/// Limits on the GPUs that the jobs of an account, user, QOS or tenant may use together.
///
/// A claim describes a job to the quotas: the quotas that it counts towards while it runs, and
/// those that must have room before it starts. Jobs with equal claims are interchangeable, so all
/// queries take claims. Usage reflects the plan so far, like the ledger of GPUs.
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
  /// Claim of a job, by numbers of quotas. The quotas in `asked` must have room before it starts.
  struct Claim {
    std::vector<std::uint32_t> counted{};
    std::vector<std::uint32_t> asked{};
    int gpus = 0;
    int gpu_milli = 1000;  ///< Thousandths of each GPU that count.

    std::int64_t milli() const { return std::int64_t{gpus} * gpu_milli; }
    auto operator<=>(const Claim&) const = default;
  };

  /// Adds a quota of `gpus` GPUs; quotas are numbered from 0.
  void add(double gpus) { quotas_.push_back({.most = std::llround(gpus * 1e3)}); }
  bool empty() const { return quotas_.empty(); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(quotas_.size()); }
  /// Returns the number of a claim; equal claims have equal numbers. An empty claim is kNoClaim.
  ClaimId claim(const Claim& claim);
  /// Sets the claim of `job`, which must not be running.
  void put(JobId job, ClaimId claim);
  ClaimId of(JobId job) const {
    return index(job) < of_job_.size() ? of_job_[index(job)] : kNoClaim;
  }

  const Claim& operator[](ClaimId claim) const { return claims_[index(claim)]; }
  /// Returns the claim of `gpus` GPUs on the same quotas; kNoClaim for 0 GPUs.
  ClaimId sized(ClaimId claim, int gpus);
  /// Changes the claim of `job`, which must not be running, to `gpus` GPUs of the same quotas.
  void ask(JobId job, int gpus) { put(job, sized(of(job), gpus)); }

  /// GPUs.
  double most(std::uint32_t quota) const { return static_cast<double>(quotas_[quota].most) / 1e3; }
  double held(std::uint32_t quota) const { return static_cast<double>(quotas_[quota].held) / 1e3; }
  /// Returns whether one more job with this claim may start.
  bool has_room(ClaimId claim) const;
  /// Records the start of a job with this claim, which must have room.
  void take(ClaimId claim);
  /// Records a job that is already running, whether there is room or not.
  void adopt(ClaimId claim) { count(claim, +1); }
  void give_back(ClaimId claim) { count(claim, -1); }
  /// Returns whether the running job `job` may change to another claim.
  bool may_change(JobId job, ClaimId claim);
  /// Changes the claim of a running job; an increase must have room.
  void change(JobId job, ClaimId claim);
  /// Counts GPUs as used in addition to the plan; a negative number takes them back.
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
