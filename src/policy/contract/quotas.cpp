// SPDX-License-Identifier: Apache-2.0
#include "policy/contract/quotas.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::policy {

ClaimId Quotas::claim(const Claim& claim) {
  if (claim.counted.empty() || claim.gpus == 0) return kNoClaim;
  const ClaimId next{static_cast<std::uint32_t>(claims_.size())};
  const auto [known, is_new] = numbers_.try_emplace(claim, next);
  if (is_new) claims_.push_back(claim);
  return known->second;
}

void Quotas::put(JobId job, ClaimId claim) {
  if (of_job_.size() <= index(job)) of_job_.resize(index(job) + 1, kNoClaim);
  of_job_[index(job)] = claim;
}

ClaimId Quotas::sized(ClaimId claim, int gpus) {
  Claim other = claims_[index(claim)];
  // A job with several GPUs holds a part of each only if it requests that many instances.
  if (gpus > 1 && other.gpus == 1) other.gpu_milli = 1'000;
  other.gpus = gpus;
  return this->claim(other);
}

void Quotas::take(ClaimId claim) {
  ALMANAC_CHECK(has_room(claim), "no quota has room for {} more GPUs", claims_[index(claim)].gpus);
  count(claim, +1);
}

bool Quotas::may_change(JobId job, ClaimId claim) {
  if (claims_[index(claim)].milli() <= claims_[index(of(job))].milli()) return true;
  give_back(of(job));
  const bool fits = has_room(claim);
  adopt(of(job));
  return fits;
}

void Quotas::change(JobId job, ClaimId claim) {
  ALMANAC_CHECK(may_change(job, claim), "no quota has room for {} GPUs instead of {}",
                claims_[index(claim)].gpus, claims_[index(of(job))].gpus);
  give_back(of(job));
  put(job, claim);
  adopt(claim);
}

bool Quotas::has_room(ClaimId claim) const {
  const Claim& wanted = claims_[index(claim)];
  return std::all_of(wanted.asked.begin(), wanted.asked.end(), [&](std::uint32_t quota) {
    return quotas_[quota].held + wanted.milli() <= quotas_[quota].most;
  });
}

void Quotas::count(ClaimId claim, int sign) {
  const Claim& wanted = claims_[index(claim)];
  for (const std::uint32_t quota : wanted.counted) quotas_[quota].held += sign * wanted.milli();
}

}  // namespace almanac::policy
