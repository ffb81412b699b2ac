// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes of a cluster as those of a Slurm site, and what jobs are allocated there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "site/site.h"
#include "slurmctld/main_loop/state.h"

namespace almanac::policy::whole {

/// A node of a site with GPUs of several types is several nodes of the cluster.
class Machines {
 public:
  /// `is_plain`: the site is plain_site(), with the same node numbers and CPUs in thousandths.
  /// Otherwise nodes correspond by name, and a CPU is one core of the cluster. Aborts if the
  /// cluster has a node that the site lacks.
  Machines(const cluster::Cluster& cluster, const site::Site& site,
           const slurmctld::NodeTable& table, bool is_plain);

  /// Takes what Slurm has allocated to a job with this demand. Returns no grants, and takes
  /// nothing, if the ledger has not got the GPUs. Cores and memory that jobs share in Slurm
  /// (OverSubscribe) are taken as far as they are free.
  std::vector<cluster::Grant> take(cluster::Ledger& ledger, const cluster::Demand& demand,
                                   const slurmctld::Allocation& allocation) const;
  /// Returns what Slurm would have allocated for `grants`.
  slurmctld::Allocation allocation_of(std::span<const cluster::Grant> grants,
                                      slurmctld::PartitionAt partition) const;
  /// Hides from Slurm what others hold of the nodes, such as GPUs out of service. Cost: O(nodes).
  void hide_what_others_hold(const cluster::Ledger& ledger, slurmctld::State& state);
  /// Whether jobs may start on the node, as far as the cluster is concerned.
  bool is_ready(slurmctld::NodeAt node, const cluster::Ledger& ledger) const;
  /// Returns the GPUs of a node that suit a demand and that Slurm counts as free. A GPU that is
  /// used in parts counts once for each part, because Slurm knows no parts.
  int free_gpus(slurmctld::NodeAt node, const cluster::Demand& demand,
                const cluster::Ledger& ledger, const slurmctld::Room& room) const;
  /// Whether the node is in the virtual cluster.
  bool is_in(slurmctld::NodeAt node, VcId vc) const;
  /// Returns the nodes of the cluster that are the node of the site.
  std::vector<NodeId> nodes_of(slurmctld::NodeAt node) const;
  std::size_t size() const { return pieces_.size(); }

 private:
  struct Piece {
    NodeId node{};
    slurmctld::TypeId type = 0;  // of its GPUs
    VcId vc{};
  };

  std::optional<std::vector<cluster::Grant>> take_units(cluster::Ledger& ledger,
                                                        const cluster::Demand& demand,
                                                        const slurmctld::Share& share) const;
  std::optional<std::vector<cluster::Grant>> take_share(cluster::Ledger& ledger,
                                                        const cluster::Demand& demand,
                                                        const slurmctld::Share& share, bool whole,
                                                        int most_gpus) const;

  bool is_plain_;
  std::vector<std::vector<Piece>> pieces_;     // by node of the site; none: in no partition
  std::vector<slurmctld::NodeAt> site_nodes_;  // by node of the cluster
  std::vector<std::optional<slurmctld::Share>> hidden_;  // by node of the site
  std::vector<std::uint32_t> seen_;  // by node: changes of the ledger when it was last read
};

}  // namespace almanac::policy::whole
