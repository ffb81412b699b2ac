// SPDX-License-Identifier: Apache-2.0

/// \file
/// Translates a job's request into the cluster's terms, and detects requests that can never run
/// before the job waits.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "cluster/cluster.h"
#include "cluster/demand_table.h"
#include "cluster/ledger.h"
#include "policy/contract/contract.h"
#include "trace/job.h"

namespace almanac::schedule {

/// Returns the part of each GPU that a request needs. Less than a thousandth counts as one, more
/// than 999 as a whole GPU.
std::int32_t gpu_milli(const trace::Request& request);

class Admission {
 public:
  Admission(const cluster::Cluster& cluster, const Names& names);

  /// The virtual cluster of a request, or kNoVc.
  VcId vc(const trace::Request& request);
  /// The tenant that a request's virtual cluster names, else its user; kNoTenant = neither does.
  TenantId tenant(const trace::Request& request) const {
    return cluster_.tenants.empty() ? kNoTenant : named_tenant(request);
  }
  /// Returns the priority tier of a request: its own, else that of its QOS, tenant or virtual
  /// cluster (cluster::Cluster::tier).
  std::int32_t tier(const trace::Request& request, TenantId tenant, VcId vc) const {
    if (request.priority_tier != 0 || !has_tiers_) return request.priority_tier;
    return cluster_.tier(names_[request.qos], tenant, vc);
  }
  /// Returns the number of the job's demand in `vc`; equal demands have equal numbers. A GPU job
  /// without cores or memory requests those that belong to its GPUs on most nodes with an accepted
  /// type; a CPU job requests one core and no memory. If nodes give no size, neither is counted.
  /// Request::gpu_share applies to jobs with one GPU; a part of each of several GPUs counts as
  /// whole GPUs. A job that requests instances needs one for each GPU it requests. An instance that
  /// covers a board counts as a GPU, and so does one on a node whose GPUs are instances of a type
  /// of that name. If boards can also be split into such instances, only those count.
  DemandId demand(const trace::Request& request, VcId vc, ClaimId claim = kNoClaim);
  /// Returns the thousandths of each GPU (or of a GPU, for each instance) that the request holds in
  /// `vc`.
  std::int32_t part(const trace::Request& request, VcId vc);
  /// Returns the demands with which a request can start in `vc`, best first: its own, then its
  /// alternatives. `claim` belongs to its own, in `quotas`; null if there are none.
  std::vector<policy::Acceptable> acceptable(const trace::Request& request, VcId vc,
                                             ClaimId claim = kNoClaim,
                                             policy::Quotas* quotas = nullptr);
  /// Why it can never start in `vc`, whatever ends; nothing if it can.
  std::optional<policy::Reason> never(VcId vc, DemandId demand) const;
  const std::vector<cluster::Demand>& demands() const { return demands_.all(); }

 private:
  /// Nodes of a virtual cluster that are alike.
  struct Size {
    std::uint64_t gpu_type = 0;  // one bit
    int nodes = 0;
    int gpus_per_node = 0;
    std::int32_t cpu_milli = 0;
    std::int32_t memory_mb = 0;
    const slices::Board* board = nullptr;

    /// How many of an instance one of their GPUs holds.
    int instances(slices::ProfileId profile) const {
      const int at = board == nullptr ? -1 : slices::position(*board, profile);
      return at < 0 ? 0 : (*board)[at].most;
    }
    /// Returns the GPUs of these nodes (instances, if those are requested), provided that a node
    /// has room for the cores and memory of all units of `wanted` that it could hold: a job uses
    /// one node or whole nodes.
    int gpus_with_room(const cluster::Demand& wanted) const {
      const cluster::Amount node{gpus_per_node, cpu_milli, memory_mb};
      if (wanted.profile != slices::kNoProfile) {
        return node.covers(wanted.of(1)) ? nodes * gpus_per_node * instances(wanted.profile) : 0;
      }
      const bool has_room = node.covers(wanted.of(std::min(wanted.gpus, gpus_per_node)));
      return has_room ? nodes * gpus_per_node : 0;
    }
  };
  /// Default cores and memory per GPU, or per task.
  struct Share {
    std::int32_t cpu_milli = 0;
    std::int32_t memory_mb = 0;

    /// With a part of the GPU.
    Share of(std::int64_t gpu_milli) const {
      const auto part = [&](std::int32_t all) {
        return static_cast<std::int32_t>(all * gpu_milli / cluster::kWholeGpu);
      };
      return {part(cpu_milli), part(memory_mb)};
    }
  };

  /// As never(), whatever the NVLink domains.
  std::optional<policy::Reason> never_by_size(VcId vc, const cluster::Demand& wanted) const;
  /// Returns the most GPUs of one type in whole groups of `wanted`, each within an NVLink domain,
  /// on idle nodes of `vc`; fewer once they are enough. O(nodes log domains).
  int gpus_in_groups(VcId vc, const cluster::Demand& wanted) const;
  Share usual_share(VcId vc, std::uint64_t types) const;
  TenantId named_tenant(const trace::Request& request) const;
  std::uint64_t types_of(std::string_view wanted) const;
  std::uint64_t types_of(NameId wanted);
  /// On GPUs of `types`.
  DemandId demand(const trace::Request& request, std::uint64_t types, VcId vc, ClaimId claim);
  /// The bits of those kinds that suit.
  template <class Suits>
  std::uint64_t kinds_with(const Suits& suits) const;
  /// Of a board with a profile of that name.
  void ask_instance(std::string_view name, cluster::Demand& wanted) const;
  /// Rules out kinds of GPUs with too little memory, and for parts in thousandths those that are
  /// cut.
  void keep_off(const trace::Request& request, cluster::Demand& wanted) const;
  /// Why it suits no kind of GPU of a virtual cluster.
  policy::Reason why_on_no_kind(VcId vc, const cluster::Demand& wanted) const;
  /// How many tasks of a CPU job its virtual cluster holds when nothing else runs, or more than it
  /// has.
  std::int64_t most_tasks(VcId vc, const cluster::Demand& wanted) const;

  const cluster::Cluster& cluster_;
  const Names& names_;
  std::vector<cluster::Cluster::GpuKind> gpu_kinds_;
  std::vector<NodeId> domains_;   // of NVLink, by node; empty if each node is one
  bool has_tiers_;                // whether the cluster says any
  bool has_kinds_ = false;        // whether kinds differ in more than their type
  std::vector<VcId> vc_of_name_;  // indexed by NameId; grows as names are met
  std::vector<bool> vc_is_known_;
  std::vector<std::optional<std::uint64_t>> types_of_name_;  // the same
  cluster::DemandTable demands_;
  std::vector<std::vector<Size>> sizes_;  // by virtual cluster
  std::vector<bool> counts_;              // whether cores or memory are
};

}  // namespace almanac::schedule
