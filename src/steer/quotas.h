// SPDX-License-Identifier: Apache-2.0

/// \file
/// The quotas of a Slurm and what its jobs hold of them, for a round that keeps them.
#pragma once

#include <string>

#include "policy/contract/quotas.h"
#include "slurm/quotas.h"
#include "steer/mirror.h"

namespace almanac::steer {

class Quotas {
 public:
  /// Counts all that runs, of which no round knows yet. `mirror` must outlive it, and not change.
  explicit Quotas(const Mirror& mirror);

  bool empty() const { return book_.empty(); }
  policy::Quotas& book() { return book_; }
  /// A round is to know `job` as `id`, before it is told of it.
  void put(JobId id, const slurm::Job& job);
  /// One that runs is adopted by the round, which counts it from then on.
  void hand_over(const slurm::Job& job) { hold(job, -job.gpus); }
  /// Whether it is left too few GPUs to start.
  bool is_at(const slurm::Job& job) { return !book_.has_room(claim(job)); }
  /// "account science has 8 of 8 GPUs": of the quota that leaves a job that is at one least.
  std::string tightest(const slurm::Job& job);

 private:
  ClaimId claim(const slurm::Job& job);
  void hold(const slurm::Job& job, int gpus);

  const slurm::Limits& limits_;
  slurm::QuotaFinder finder_;
  policy::Quotas book_;
};

}  // namespace almanac::steer
