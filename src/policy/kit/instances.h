// SPDX-License-Identifier: Apache-2.0

/// \file
/// Places instances of GPUs that are cut where the fewest slices become a fragment.
#pragma once

#include <vector>

#include "cluster/ledger.h"

namespace almanac::policy {

/// How often jobs ask each instance, or all of a board.
class InstanceMix {
 public:
  InstanceMix();
  void add(const cluster::Demand& demand);
  /// Slices of a GPU, as a part of all of it, that the next job which could lie on such a board is
  /// expected not to be able to use, times the number of those jobs.
  ///
  /// Source   Weng et al., ATC'23 (FGD), section 3, slices instead of thousandths of a GPU.
  double unusable(const slices::Board& board, const slices::Taken& taken) const;
  /// The same of one job, in thousandths of GPUs, over all GPUs of a node that is cut.
  double unusable_milli(const cluster::Ledger& ledger, NodeId node) const;

 private:
  /// Of each profile of each of slices::boards().
  std::vector<std::vector<double>> asked_;
};

/// Takes one instance for a job of `demand` that asks one, and appends it to `grants`: of all GPUs
/// and starts where the fragment of the mix grows least; of equal ones on the fullest GPU, then
/// where most options are kept, then on the lowest-numbered. False = changed nothing. O(GPUs of the
/// boards that suit).
bool place_instance(const InstanceMix& mix, cluster::Ledger& ledger, VcId vc,
                    const cluster::Demand& demand, std::vector<cluster::Grant>& grants);

}  // namespace almanac::policy
