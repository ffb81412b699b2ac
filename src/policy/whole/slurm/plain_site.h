// SPDX-License-Identifier: Apache-2.0

/// \file
/// A Slurm site for a cluster of which no Slurm file is known: its nodes and virtual clusters, and
/// Slurm's defaults for everything else.
#pragma once

#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "site/site.h"
#include "slurmctld/jobs/submission.h"

namespace almanac::policy::whole {

/// CPUs of the site are thousandths of a core, so that parts of cores stay exact. Nodes and
/// partitions have the numbers of nodes and virtual clusters. Features name the kind of GPUs and
/// their type.
site::Site plain_site(const cluster::Cluster& cluster);

/// Turns demands of jobs in one cluster into requests.
class PlainRequests {
 public:
  PlainRequests(const cluster::Cluster& cluster, const slurmctld::NodeTable& table);

  /// Returns the sbatch request of a job with `demand` in a virtual cluster:
  ///
  /// - its number of nodes with equally many GPUs each (-N, --gpus-per-node), if it requests nodes;
  /// - one node, if that can hold it (-N1 --gpus-per-node);
  /// - a task for each GPU otherwise (-n, --gpus-per-task=1);
  /// - a CPU job: its tasks (-n, -c).
  ///
  /// A part of a GPU counts as a whole one.
  slurmctld::NodeRequest of(const cluster::Demand& demand, VcId vc) const;

 private:
  /// Nodes of a virtual cluster with one kind of GPUs.
  struct Kind {
    std::uint64_t bit = 0;
    int gpus_per_node = 0;
    slurmctld::TypeId kind = 0;  // feature
    slurmctld::TypeId type = 0;  // feature
  };

  std::vector<std::vector<Kind>> kinds_;  // by VcId
};

}  // namespace almanac::policy::whole
