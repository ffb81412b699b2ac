// SPDX-License-Identifier: Apache-2.0

/// \file
/// The tree of associations as fair share sees it: `fairshare=parent` lifts the members of an
/// account to the siblings of that account.
///
/// Source   Slurm 22.05 to 25.11, src/common/assoc_mgr.c.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "site/accounts.h"

namespace almanac::slurmctld {

/// Position in Site::associations.
using AssociationAt = std::uint32_t;

/// "No association", "no QOS", "no partition".
inline constexpr std::uint32_t kNowhere = 0xffff'ffff;

class AssociationTree {
 public:
  /// `associations` as in Site: the root first, each parent before its children, siblings in the
  /// order of Slurm's list.
  explicit AssociationTree(std::span<const site::Association> associations);

  std::size_t size() const { return members_.size(); }
  /// kNowhere for the root.
  AssociationAt parent(AssociationAt at) const { return members_[at].parent; }
  /// The nearest ancestor that has shares of its own, or the root. kNowhere for the root.
  AssociationAt fair_parent(AssociationAt at) const { return members_[at].fair_parent; }
  /// The members whose fair_parent() is `at`, in the order of the list.
  std::span<const AssociationAt> children(AssociationAt at) const { return members_[at].children; }
  bool is_user(AssociationAt at) const { return members_[at].is_user; }
  /// Whether it has fairshare=parent.
  bool takes_parents_shares(AssociationAt at) const { return members_[at].takes_parents_shares; }
  /// 0 with fairshare=parent.
  std::uint32_t shares(AssociationAt at) const { return members_[at].shares; }
  /// The sum of the shares of all children of its fair_parent().
  std::uint32_t level_shares(AssociationAt at) const { return members_[at].level_shares; }
  /// Share of its level: shares / level_shares. With fairshare=parent, that of its fair_parent().
  double level_share(AssociationAt at) const;
  /// Share of the cluster: the product of the shares from `at` up to the root. 1 for the root.
  double cluster_share(AssociationAt at) const;
  /// Associations of users; those of a partition count each.
  std::uint32_t users() const { return users_; }

 private:
  struct Member {
    AssociationAt parent = kNowhere;
    AssociationAt fair_parent = kNowhere;
    std::vector<AssociationAt> children{};
    std::uint32_t shares = 0;
    std::uint32_t level_shares = 0;
    bool is_user = false;
    bool takes_parents_shares = false;
  };

  std::uint32_t shares_below(AssociationAt at) const;

  std::vector<Member> members_;
  std::uint32_t users_ = 0;
};

}  // namespace almanac::slurmctld
