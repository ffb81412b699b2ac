// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cells of a virtual cluster in terms of jobs, demands and grants. The scheduler of HiveD
/// (cluster/cells/scheduler.h) chooses the GPUs of a job.
///
/// Source   Zhao et al., OSDI'20 (HiveD), and the program published with it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/cell_plan.h"
#include "cluster/cells/scheduler.h"
#include "cluster/ledger.h"

namespace almanac::policy {

/// The owner for whom a job is placed.
struct CellOwner {
  std::string name{};                 ///< "" for none: the job is a guest.
  int priority = 0;                   ///< Among the jobs in that owner's cells.
  std::vector<std::string> pinned{};  ///< Its pinned cells, tried first.

  bool is_guest() const { return name.empty(); }
};

class CellSite {
 public:
  /// What a job would hold, and the jobs that must stop first.
  struct Offer {
    std::vector<cluster::Grant> grants{};
    std::vector<JobId> victims{};
  };
  /// Carries out an offer. Returns kNoNode, or the node where it is impossible.
  using Take = std::function<NodeId(const Offer&)>;

  /// `owners` names every owner. The plan must not own more than the cluster has.
  CellSite(cluster::CellPlan plan, const std::vector<std::string>& owners,
           const cluster::Cluster& cluster);

  /// Tries to place a GPU job. Each time `take` names a node, tries again without that node, a few
  /// times at most. Returns false if the job has no place; jobs of lower priority may be guests
  /// even then.
  bool place(JobId job, const CellOwner& owner, const cluster::Demand& demand, const Take& take);
  /// Whether all nodes of `held` are of one kind, as those of a placed job are.
  bool is_one_chain(std::span<const cluster::Grant> held) const;
  /// Adopts a running job as if it had been placed here.
  void adopt(JobId job, const CellOwner& owner, std::span<const cluster::Grant> held);
  void release(JobId job);
  void look_at_nodes(const cluster::Ledger& ledger);
  /// While this value stays the same, equal attempts of place() have equal results.
  std::uint64_t changes() const { return cells_ ? cells_->changes() : 0; }
  /// Whether a job is in its owner's cells.
  bool is_owners(JobId job) const;

 private:
  bool place_in(const cluster::CellChain& chain, JobId job, const CellOwner& owner,
                const std::string& pinned, const cluster::Demand& demand, const Take& take);
  std::optional<std::size_t> chain_of(NodeId node) const;

  cluster::CellPlan plan_;
  std::vector<std::uint64_t> gpu_types_;     // of each chain, one bit
  std::optional<cells::Scheduler> cells_{};  // none if no node has GPUs
};

}  // namespace almanac::policy
