// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/association_tree.h"

#include "base/check.h"

namespace almanac::slurmctld {

AssociationTree::AssociationTree(std::span<const site::Association> associations) {
  members_.resize(associations.size());
  for (AssociationAt at = 0; at < members_.size(); ++at) {
    const site::Association& from = associations[at];
    Member& member = members_[at];
    member.is_user = !from.is_account();
    member.takes_parents_shares = from.shares == site::Association::kParent;
    member.shares = member.takes_parents_shares ? 0 : static_cast<std::uint32_t>(from.shares);
    if (member.is_user) ++users_;
    if (at == 0) continue;
    ALMANAC_CHECK(from.parent >= 0 && static_cast<AssociationAt>(from.parent) < at,
                  "association {} comes before its parent {}", at, from.parent);
    member.parent = static_cast<AssociationAt>(from.parent);
    member.fair_parent = member.parent;
    while (members_[member.fair_parent].takes_parents_shares && member.fair_parent != 0) {
      member.fair_parent = members_[member.fair_parent].parent;
    }
    members_[member.fair_parent].children.push_back(at);
  }
  for (AssociationAt at = 0; at < members_.size(); ++at) {
    const std::uint32_t below = shares_below(at);
    for (const AssociationAt child : members_[at].children) members_[child].level_shares = below;
  }
}

std::uint32_t AssociationTree::shares_below(AssociationAt at) const {
  std::uint32_t sum = 0;
  for (const AssociationAt child : members_[at].children) {
    sum += members_[child].takes_parents_shares ? shares_below(child) : members_[child].shares;
  }
  return sum;
}

double AssociationTree::level_share(AssociationAt at) const {
  const Member& from =
      members_[takes_parents_shares(at) && at != 0 ? members_[at].fair_parent : at];
  return from.level_shares == 0 ? 0.0 : static_cast<double>(from.shares) / from.level_shares;
}

double AssociationTree::cluster_share(AssociationAt at) const {
  if (takes_parents_shares(at) && at != 0) at = members_[at].fair_parent;
  double share = 1;
  for (; members_[at].parent != kNowhere; at = members_[at].parent) {
    const Member& member = members_[at];
    if (member.takes_parents_shares) continue;
    share *= member.level_shares == 0
                 ? 0.0
                 : static_cast<double>(member.shares) / static_cast<double>(member.level_shares);
  }
  return share;
}

}  // namespace almanac::slurmctld
