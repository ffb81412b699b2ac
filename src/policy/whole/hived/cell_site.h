// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cells of a virtual cluster, in the terms of a policy: jobs, demands and grants. Which GPUs a
/// job gets is said by the scheduler of HiveD (cluster/cells/scheduler.h).
///
/// Source   Zhao et al., OSDI'20 (HiveD), and the program published with it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cell_plan.h"
#include "cluster/cells/scheduler.h"
#include "cluster/ledger.h"

namespace almanac::policy {

/// For whom a job is placed.
struct CellOwner {
  std::string name{};                 ///< "" = nobody: the job is a guest.
  int priority = 0;                   ///< Among the jobs in the cells of that owner.
  std::vector<std::string> pinned{};  ///< Its pinned cells, which are tried first.

  bool is_guest() const { return name.empty(); }
};

class CellSite {
 public:
  /// What a job would hold, and which jobs have to go first.
  struct Offer {
    std::vector<cluster::Grant> grants{};
    std::vector<JobId> victims{};
  };
  /// Makes an offer true; gives a node where it cannot be, or kNoNode.
  using Take = std::function<NodeId(const Offer&)>;

  /// Every owner is named in `owners`. The plan owns no more than there is.
  CellSite(cluster::CellPlan plan, const std::vector<std::string>& owners,
           const cluster::Cluster& cluster);

  /// Tries a job of GPUs, at the most on as many nodes as a few times cannot be had; false = it is
  /// where it was, though jobs of less priority may be guests from now on.
  bool place(JobId job, const CellOwner& owner, const cluster::Demand& demand, const Take& take);
  /// Takes over a job that runs, as if it had been placed here.
  void adopt(JobId job, const CellOwner& owner, std::span<const cluster::Grant> held);
  void release(JobId job);
  void look_at_nodes(const cluster::Ledger& ledger);
  /// While it stays the same, so do the answers of place() to the same attempts.
  std::uint64_t changes() const { return cells_ ? cells_->changes() : 0; }
  /// Whether a job is in the cells of its owner.
  bool is_owners(JobId job) const;

 private:
  bool place_in(const cluster::CellChain& chain, JobId job, const CellOwner& owner,
                const std::string& pinned, const cluster::Demand& demand, const Take& take);
  std::optional<std::size_t> chain_of(NodeId node) const;

  cluster::CellPlan plan_;
  std::vector<std::uint64_t> gpu_types_;     // of each chain, one bit
  std::optional<cells::Scheduler> cells_{};  // none = no node has GPUs
};

}  // namespace almanac::policy
