// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the jobs of a Slurm's past claim of the quotas that it keeps today.
#pragma once

#include <utility>

#include "experiment/past.h"
#include "slurm/job.h"
#include "slurm/node.h"
#include "slurm/quotas.h"
#include "store/job.h"

namespace almanac::accounting {

class Claims {
 public:
  /// `limits` must outlive it, and are those that the site enforces.
  explicit Claims(const slurm::Limits& limits);

  /// Of a job that is `number` in the log: its account, user, partition, QOS and GPUs are read.
  void add(store::JobNumber number, const slurm::Job& job);
  /// All of it, for good.
  experiment::SiteQuotas take() { return std::move(made_); }

 private:
  slurm::QuotaFinder finder_;
  experiment::SiteQuotas made_;
};

}  // namespace almanac::accounting
