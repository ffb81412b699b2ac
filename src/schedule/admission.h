// SPDX-License-Identifier: Apache-2.0

/// \file
/// Translates what a job asks into the cluster's terms, and tells "never" before anybody waits.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "policy/reason.h"
#include "trace/job.h"

namespace almanac::schedule {

class Admission {
 public:
  Admission(const cluster::Cluster& cluster, const Names& names);

  /// The virtual cluster of a request, or kNoVc.
  VcId vc(const trace::Request& request);
  /// The number of its demand; equal demands have equal numbers.
  DemandId demand(const trace::Request& request);
  /// Why it can never start in `vc`, whatever ends; nothing if it can.
  std::optional<policy::Reason> never(VcId vc, DemandId demand) const;
  const std::vector<cluster::Demand>& demands() const { return demands_; }

 private:
  std::uint64_t types_of(NameId gpu_type);

  const cluster::Cluster& cluster_;
  const Names& names_;
  std::vector<std::string> gpu_types_;
  std::vector<VcId> vc_of_name_;  // indexed by NameId; grows as names are met
  std::vector<bool> vc_is_known_;
  std::vector<cluster::Demand> demands_;
  std::vector<std::uint32_t> demand_of_gpus_;  // for demands that accept every type; 0 = none yet
  std::vector<std::vector<std::pair<std::uint64_t, int>>> sizes_;  // per VC: type bit, most GPUs
};

}  // namespace almanac::schedule
