// SPDX-License-Identifier: Apache-2.0

/// \file
/// Translates what a job asks into the cluster's terms, and tells "never" before a job waits.
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

/// Of each GPU that a request asks: less than a thousandth is that, more than 999 are all of it.
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
  /// The number of its demand in `vc`; equal demands have equal numbers. A GPU job that does not
  /// say its cores or memory asks those of what it asks of its GPUs, by most nodes of a type that
  /// it accepts, a CPU job one core and no memory. Where nodes do not say how much they have,
  /// neither is counted. Request::gpu_share counts where one GPU is asked; a part of each of
  /// several GPUs is all of them. Of an instance that a job asks there are as many as it asks GPUs;
  /// one that is all of a board is a GPU, and so is one of a node whose GPUs are instances, of a
  /// type that is called so. Where boards can be cut in such instances as well, only those count.
  DemandId demand(const trace::Request& request, VcId vc, ClaimId claim = kNoClaim);
  /// Of each GPU, or of a GPU for each instance, that it asks in `vc` what it holds: thousandths.
  std::int32_t part(const trace::Request& request, VcId vc);
  /// The demands with which a request that names alternatives can start in `vc`, best first: what
  /// it asks, then those. `claim` is of what it asks, of `quotas`; null = there are none.
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
    /// GPUs, or instances where those are asked, of these nodes, if a node has room for the cores
    /// and memory of all units of `wanted` that it could hold: a job lies on one node or on whole
    /// nodes.
    int gpus_with_room(const cluster::Demand& wanted) const {
      const cluster::Amount node{gpus_per_node, cpu_milli, memory_mb};
      if (wanted.profile != slices::kNoProfile) {
        return node.covers(wanted.of(1)) ? nodes * gpus_per_node * instances(wanted.profile) : 0;
      }
      const bool has_room = node.covers(wanted.of(std::min(wanted.gpus, gpus_per_node)));
      return has_room ? nodes * gpus_per_node : 0;
    }
  };
  /// What comes with a GPU, or with a task, that does not say.
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

  Share usual_share(VcId vc, std::uint64_t types) const;
  TenantId named_tenant(const trace::Request& request) const;
  std::uint64_t types_of(std::string_view wanted) const;
  std::uint64_t types_of(NameId wanted);
  /// On GPUs of `types`.
  DemandId demand(const trace::Request& request, std::uint64_t types, VcId vc, ClaimId claim);
  /// The bits of those kinds that suit.
  template <class Suits>
  std::uint64_t kinds_with(const Suits& suits) const;
  /// Of a board that has one of that name.
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
  bool has_kinds_ = false;        // of which more is told than their type
  std::vector<VcId> vc_of_name_;  // indexed by NameId; grows as names are met
  std::vector<bool> vc_is_known_;
  std::vector<std::optional<std::uint64_t>> types_of_name_;  // the same
  cluster::DemandTable demands_;
  std::vector<std::vector<Size>> sizes_;  // by virtual cluster
  std::vector<bool> counts_;              // whether cores or memory are
};

}  // namespace almanac::schedule
