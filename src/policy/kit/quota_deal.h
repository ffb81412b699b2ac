// SPDX-License-Identifier: Apache-2.0

/// \file
/// Room in quotas as it is dealt out to jobs of which none has started yet.
///
/// What running jobs have of a quota is theirs until they have let it go: a job that is to have
/// fewer GPUs makes room for others in a later decision.
#pragma once

#include <optional>

#include "policy/contract/quotas.h"

namespace almanac::policy {

/// Cost: a copy of the quotas, O(jobs); then O(log claims) a question.
class QuotaDeal {
 public:
  /// Begins anew with what jobs hold; null = there are no quotas, and always room.
  void open(const Quotas* quotas) {
    left_.reset();
    if (quotas != nullptr) left_ = *quotas;
  }
  /// Whether a job that holds or was dealt `from` GPUs may have `to`.
  bool has_room(JobId job, int from, int to) {
    if (!left_ || to <= from) return true;
    const ClaimId own = claim_of(job, from);
    left_->give_back(own);
    const bool fits = left_->has_room(claim_of(job, to));
    left_->adopt(own);
    return fits;
  }
  /// It has them, for which there is room.
  void deal(JobId job, int from, int to) {
    if (!left_ || to <= from) return;
    left_->give_back(claim_of(job, from));
    left_->take(claim_of(job, to));
  }

 private:
  ClaimId claim_of(JobId job, int gpus) {
    return gpus > 0 ? left_->sized(left_->of(job), gpus) : kNoClaim;
  }

  std::optional<Quotas> left_;  // none = there are no quotas
};

}  // namespace almanac::policy
