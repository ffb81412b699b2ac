// SPDX-License-Identifier: Apache-2.0

/// \file
/// Room in quotas while GPUs are divided among jobs of which none has started yet.
///
/// What running jobs use of a quota counts until they give it up: a job that gets fewer GPUs makes
/// room for others in a later decision.
#pragma once

#include <optional>

#include "policy/contract/quotas.h"

namespace almanac::policy {

/// Cost     a copy of the quotas, O(jobs); then O(log claims) per query
class QuotaDeal {
 public:
  /// Starts again with what jobs hold; null if there are no quotas, and so always room.
  void open(const Quotas* quotas) {
    left_.reset();
    if (quotas != nullptr) left_ = *quotas;
  }
  /// Whether a job that holds or was given `from` GPUs may have `to`.
  bool has_room(JobId job, int from, int to) {
    if (!left_ || to <= from) return true;
    const ClaimId own = claim_of(job, from);
    left_->give_back(own);
    const bool fits = left_->has_room(claim_of(job, to));
    left_->adopt(own);
    return fits;
  }
  /// Records that it has them; requires room.
  void deal(JobId job, int from, int to) {
    if (!left_ || to <= from) return;
    left_->give_back(claim_of(job, from));
    left_->take(claim_of(job, to));
  }

 private:
  ClaimId claim_of(JobId job, int gpus) {
    return gpus > 0 ? left_->sized(left_->of(job), gpus) : kNoClaim;
  }

  std::optional<Quotas> left_;  // nothing without quotas
};

}  // namespace almanac::policy
