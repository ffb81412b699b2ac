// SPDX-License-Identifier: Apache-2.0

/// \file
/// The quotas that a Slurm cluster enforces today, and what past jobs claim of them.
#pragma once

#include <utility>

#include "experiment/past.h"
#include "manager/job.h"
#include "manager/node.h"
#include "manager/quotas.h"
#include "store/job.h"

namespace almanac::accounting {

class Claims {
 public:
  /// `limits` are those that the site enforces; they must outlive this object.
  explicit Claims(const manager::Limits& limits);

  /// Adds job `number` of the log. Reads its account, user, partition, QOS and GPUs.
  void add(store::JobNumber number, const manager::Job& job);
  /// Returns the result. Call it once, at the end.
  experiment::SiteQuotas take() { return std::move(made_); }

 private:
  manager::QuotaFinder finder_;
  experiment::SiteQuotas made_;
};

}  // namespace almanac::accounting
