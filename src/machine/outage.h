// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes and GPUs on which no job may start.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/ids.h"
#include "cluster/ledger.h"

namespace almanac::machine {

struct Outage {
  std::set<NodeId> drained{};
  std::set<NodeId> silent{};  ///< Their box has not reported for a while; not kept on disk.
  std::map<std::pair<NodeId, int>, std::string> gpus{};  ///< Out of service, with the reason.
  std::set<std::string> missing{};  ///< Silent boxes that no operator has declared gone.

  bool takes_jobs(NodeId node) const { return !drained.contains(node) && !silent.contains(node); }
  /// Returns "boxes a, b do not report, or could not start a job"; "" if all take jobs.
  std::string missing_text() const;
  /// Returns "node a is drained"; "" if none is.
  std::string drained_text(const cluster::Cluster& cluster) const;
  /// Returns the GPUs of `node` that are out of service.
  cluster::GpuMask mask(NodeId node) const {
    cluster::GpuMask made = 0;
    for (const auto& [where, why] : gpus) {
      if (where.first == node) made |= cluster::GpuMask{1} << static_cast<unsigned>(where.second);
    }
    return made;
  }
};

}  // namespace almanac::machine
