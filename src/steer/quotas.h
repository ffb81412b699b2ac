// SPDX-License-Identifier: Apache-2.0

/// \file
/// The quotas of a managed cluster and what its jobs hold of them, for a round that enforces them.
#pragma once

#include <string>

#include "manager/quotas.h"
#include "policy/contract/quotas.h"
#include "steer/mirror.h"

namespace almanac::steer {

class Quotas {
 public:
  /// Counts all running jobs, which no round knows yet. `mirror` must outlive it, and not change.
  explicit Quotas(const Mirror& mirror);

  bool empty() const { return book_.empty(); }
  policy::Quotas& book() { return book_; }
  /// Sets the id of `job` in the round; call before the job joins it.
  void put(JobId id, const manager::Job& job);
  /// Call when the round has adopted a running job, because the round counts it from then on.
  void hand_over(const manager::Job& job) { hold(job, -job.gpus); }
  /// Whether a quota leaves too few GPUs for a job.
  bool is_at(const manager::Job& job) { return !book_.has_room(claim(job)); }
  /// "account science has 8 of 8 GPUs": the quota that leaves the job the fewest GPUs.
  std::string tightest(const manager::Job& job);

 private:
  ClaimId claim(const manager::Job& job);
  void hold(const manager::Job& job, int gpus);

  const manager::Limits& limits_;
  manager::QuotaFinder finder_;
  policy::Quotas book_;
};

}  // namespace almanac::steer
