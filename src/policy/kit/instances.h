// SPDX-License-Identifier: Apache-2.0

/// \file
/// Places MIG instances where the fewest slices become a fragment.
#pragma once

#include <vector>

#include "cluster/ledger.h"

namespace almanac::policy {

/// How often jobs request each instance, or all of a board.
class InstanceMix {
 public:
  InstanceMix();
  void add(const cluster::Demand& demand);
  /// Returns the slices of a GPU, as a fraction of all its slices, that the next job that could use
  /// such a board is expected not to be able to use, times the number of those jobs.
  ///
  /// Source   Weng et al., ATC'23 (FGD), section 3, slices instead of thousandths of a GPU.
  double unusable(const slices::Board& board, const slices::Taken& taken) const;
  /// Returns the same for one job, in thousandths of GPUs, over all partitioned GPUs of a node.
  double unusable_milli(const cluster::Ledger& ledger, NodeId node) const;

 private:
  /// For each profile of each of slices::boards().
  std::vector<std::vector<double>> asked_;
};

/// Takes one instance for a job of `demand` that requests one, and appends it to `grants`. Among
/// all GPUs and starts, chooses the smallest growth of the mix's fragment, then the fullest GPU,
/// then the most remaining options, then the lowest number. Returns false if it changed nothing.
/// O(GPUs of the boards that suit).
bool place_instance(const InstanceMix& mix, cluster::Ledger& ledger, VcId vc,
                    const cluster::Demand& demand, std::vector<cluster::Grant>& grants);

}  // namespace almanac::policy
