// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/fair_share.h"

#include <cmath>

namespace almanac::slurmctld {

double classic_factor(long double effective_usage, double share, std::uint32_t dampening) {
  if (share <= 0) return 0;
  const long double excess =
      (effective_usage / static_cast<long double>(share)) / static_cast<long double>(dampening);
  return std::pow(2.0, static_cast<double>(-excess));
}

ClassicFairShare::ClassicFairShare(const AssociationTree& tree, std::uint32_t dampening,
                                   bool depth_oblivious)
    : tree_(tree),
      is_known_(tree.size(), false),
      dampening_(dampening),
      depth_oblivious_(depth_oblivious) {
  read_shares();
}

void ClassicFairShare::read_shares() {
  shares_.clear();
  for (AssociationAt at = 0; at < tree_.size(); ++at) shares_.push_back(tree_.cluster_share(at));
}

void ClassicFairShare::configure(std::uint32_t dampening, bool depth_oblivious) {
  dampening_ = dampening;
  depth_oblivious_ = depth_oblivious;
}

void ClassicFairShare::begin_pass(const UsageLedger& usage, std::vector<Standing>& standings) {
  if (tree_.size() == 0) return;
  standings[0].effective_usage = 1;
  is_known_[0] = true;
  judge_accounts(0, usage, standings);
}

void ClassicFairShare::judge_accounts(AssociationAt account, const UsageLedger& usage,
                                      std::vector<Standing>& standings) {
  for (const AssociationAt child : tree_.children(account)) {
    if (tree_.is_user(child)) {
      is_known_[child] = false;
    } else {
      set_standing(child, usage, standings);
      judge_accounts(child, usage, standings);
    }
  }
}

void ClassicFairShare::judge(AssociationAt at, const UsageLedger& usage,
                             std::vector<Standing>& standings) {
  if (at != 0 && !is_known_[at]) set_standing(at, usage, standings);
}

void ClassicFairShare::set_standing(AssociationAt at, const UsageLedger& usage,
                                    std::vector<Standing>& standings) {
  is_known_[at] = true;
  Standing& standing = standings[at];
  standing.usage_share = usage_share(usage, at);
  const AssociationAt parent = tree_.fair_parent(at);
  const long double of_parent = standings[parent].effective_usage;
  if (parent == 0) {
    standing.effective_usage = standing.usage_share;
  } else if (tree_.takes_parents_shares(at)) {
    standing.effective_usage = of_parent;
  } else if (depth_oblivious_) {
    standing.effective_usage = oblivious_usage(at, standings);
  } else if (tree_.level_shares(at) == 0) {
    standing.effective_usage = of_parent;
  } else {
    standing.effective_usage =
        standing.usage_share +
        (of_parent - standing.usage_share) *
            (tree_.shares(at) / static_cast<long double>(tree_.level_shares(at)));
  }
}

long double ClassicFairShare::oblivious_usage(AssociationAt at,
                                              const std::vector<Standing>& standings) const {
  // How much a parent's imbalance counts against that among its children; fixed in Slurm.
  constexpr long double kSteepness = 5;
  const AssociationAt parent = tree_.fair_parent(at);
  const long double used = standings[at].usage_share;
  const long double of_parent = standings[parent].effective_usage;
  const double share = shares_[at];
  const double parent_share = shares_[parent];
  if (share == 0 || parent_share == 0 || of_parent == 0 || used == 0) return used;
  const long double parent_ratio = of_parent / parent_share;
  long double siblings_ratio = 0;
  for (const AssociationAt sibling : tree_.children(parent)) {
    if (!tree_.takes_parents_shares(sibling)) siblings_ratio += standings[sibling].usage_share;
  }
  siblings_ratio /= parent_share;
  const long double own_ratio = (used / share) / siblings_ratio;
  long double exponent = 1;
  if (parent_ratio != 0 && own_ratio != 0 && std::log(parent_ratio) * std::log(own_ratio) < 0) {
    exponent = 1 / (1 + std::pow(kSteepness * std::log(parent_ratio), 2.0L));
  }
  return parent_ratio * std::pow(static_cast<double>(own_ratio), static_cast<double>(exponent)) *
         share;
}

double ClassicFairShare::factor(AssociationAt at, const UsageLedger& usage,
                                std::vector<Standing>& standings) {
  const AssociationAt judged =
      tree_.takes_parents_shares(at) && at != 0 ? tree_.fair_parent(at) : at;
  judge(judged, usage, standings);
  return classic_factor(standings[judged].effective_usage, shares_[judged], dampening_);
}

}  // namespace almanac::slurmctld
