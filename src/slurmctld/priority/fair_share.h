// SPDX-License-Identifier: Apache-2.0

/// \file
/// Classic fair share (NO_FAIR_TREE): the factor falls with an association's effective usage, which
/// the usage of its siblings raises.
///
/// Source   Slurm 22.05 to 25.05, priority_multifactor.c.
#pragma once

#include <vector>

#include "slurmctld/priority/association_tree.h"
#include "slurmctld/priority/fair_tree.h"
#include "slurmctld/priority/usage.h"

namespace almanac::slurmctld {

/// Returns 2^(-(usage / share) / dampening); 0 without shares. `share` is of the cluster.
double classic_factor(long double effective_usage, double share, std::uint32_t dampening);

/// Evaluates accounts at the start of each decay pass, and a user at the first query after it.
class ClassicFairShare {
 public:
  /// `dampening` is FairShareDampeningFactor.
  /// `tree` must outlive it.
  ClassicFairShare(const AssociationTree& tree, std::uint32_t dampening, bool depth_oblivious);

  void configure(std::uint32_t dampening, bool depth_oblivious);
  /// The shares of the tree have changed. Users keep their standing until the next pass.
  void read_shares();
  /// Sets the standing of all accounts from their present usage, and drops that of users.
  void begin_pass(const UsageLedger& usage, std::vector<Standing>& standings);
  /// Sets the standing of a user from the present usage, unless it was set since the last pass.
  void judge(AssociationAt at, const UsageLedger& usage, std::vector<Standing>& standings);
  /// Returns the factor of jobs of `at`: with fairshare=parent, that of its fair_parent().
  double factor(AssociationAt at, const UsageLedger& usage, std::vector<Standing>& standings);

 private:
  void judge_accounts(AssociationAt account, const UsageLedger& usage,
                      std::vector<Standing>& standings);
  void set_standing(AssociationAt at, const UsageLedger& usage, std::vector<Standing>& standings);
  long double oblivious_usage(AssociationAt at, const std::vector<Standing>& standings) const;

  const AssociationTree& tree_;
  std::vector<double> shares_;  // of the cluster
  std::vector<bool> is_known_;
  std::uint32_t dampening_;
  bool depth_oblivious_;
};

}  // namespace almanac::slurmctld
