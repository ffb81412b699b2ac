// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/quota_keeper.h"

namespace almanac::policy {

void QuotaKeeper::look() {
  for (VcState& vc : vcs_) {
    for (const WaitingQueue::Class& each : vc.waiting.classes()) {
      const bool has_room = desk_.is_within_quotas(each.demand);
      if (has_room && each.is_aside) take_back(vc, each);
      if (!has_room && !each.is_aside) put_aside(vc, each);
    }
  }
}

void QuotaKeeper::started(ClaimId claim) {
  if (claim == kNoClaim) return;
  for (VcState& vc : vcs_) {
    for (const WaitingQueue::Class& each : vc.waiting.classes()) {
      if (!each.is_aside && !desk_.is_within_quotas(each.demand)) put_aside(vc, each);
    }
  }
}

void QuotaKeeper::put_aside(VcState& vc, const WaitingQueue::Class& own) {
  for (RankedQueue::Cursor at(own.jobs); at.get() != nullptr; at.advance()) {
    pass_.withdrawn(vc, at.get()->job);
  }
  if (!own.jobs.empty()) regrouped_.push_back(vc.vc);
  vc.waiting.set_aside(own.id, true);
}

void QuotaKeeper::take_back(VcState& vc, const WaitingQueue::Class& own) {
  vc.waiting.set_aside(own.id, false);
  for (RankedQueue::Cursor at(own.jobs); at.get() != nullptr; at.advance()) {
    pass_.arrived(vc, at.get()->job);
  }
  if (!own.jobs.empty()) regrouped_.push_back(vc.vc);
}

}  // namespace almanac::policy
