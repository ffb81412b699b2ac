// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which parts of the GPUs, cores and memory of its virtual cluster a job could use: what dominant
/// resource fairness and packing by resources rank by.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "policy/slots.h"

namespace almanac::policy {

class DominantShares {
 public:
  /// Of each virtual cluster all nodes, in service or not.
  explicit DominantShares(const cluster::Cluster& machines);

  /// Tells `seen` the shares of `wish`, all that a job of the virtual cluster `vc` could use.
  void tell(Candidate& seen, VcId vc, const cluster::Demand& wish) const;

 private:
  struct Total {
    double gpus = 0;
    double cpu_milli = 0;
    double memory_mb = 0;
  };
  std::vector<Total> total_;  // of each virtual cluster
};

}  // namespace almanac::policy
