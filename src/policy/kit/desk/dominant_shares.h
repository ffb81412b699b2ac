// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fractions of the GPUs, cores and memory of its virtual cluster that a job could use.
/// Dominant resource fairness and packing by resources rank by these.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "policy/slots.h"

namespace almanac::policy {

class DominantShares {
 public:
  /// Counts all nodes of each virtual cluster, in service or not.
  explicit DominantShares(const cluster::Cluster& machines);

  /// Sets the shares of `seen` for `wish`, all that a job of the virtual cluster `vc` could use.
  void tell(Candidate& seen, VcId vc, const cluster::Demand& wish) const;

 private:
  struct Total {
    double gpus = 0;
    double cpu_milli = 0;
    double memory_mb = 0;
  };
  std::vector<Total> total_;  // by virtual cluster
};

}  // namespace almanac::policy
