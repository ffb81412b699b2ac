// SPDX-License-Identifier: Apache-2.0

/// \file
/// Free GPUs of a live cluster, and how fragmented they are.
///
/// Source   Weng et al., ATC'23 (FGD), section 3: free GPUs that the next job is expected not to be
///          able to use, given the mix of jobs.
/// Differs  Whole GPUs only: cores, memory, GPU types and parts of GPUs are not considered. A job
///          that no node could hold counts as one that needs a whole node of the largest size.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "service/service.h"

namespace almanac::service {

struct FreeGpus {
  int gpus = 0;            ///< In service, on nodes that accept jobs, held by no job.
  int most_on_a_node = 0;  ///< The largest job that fits on one node.
  int whole_nodes = 0;     ///< Nodes whose GPUs are all free.
  /// Expected number of free GPUs that the next GPU job cannot use, 0 to `gpus`; nothing if the mix
  /// of jobs is unknown.
  std::optional<double> fragmented{};
};

/// `jobs_by_gpus`: the mix of jobs, as numbers of jobs by requested GPUs (waits.h). Jobs without
/// GPUs are ignored. Cost: O(nodes * sizes).
FreeGpus count_free_gpus(const std::vector<NodeView>& nodes,
                         const std::map<int, std::uint64_t>& jobs_by_gpus);

}  // namespace almanac::service
