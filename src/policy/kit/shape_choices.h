// SPDX-License-Identifier: Apache-2.0

/// \file
/// The possible shapes of an elastic job.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "policy/contract/contract.h"

namespace almanac::policy {

struct ShapeChoice {
  int nodes = 1;  ///< 0 leaves them to the placement: gpus_per_node are all GPUs.
  int gpus_per_node = 1;
  double rate = 1;  ///< Relative to the shape of the job's known run time.
  double cost = 0;  ///< What it occupies.

  int gpus() const { return std::max(1, nodes) * gpus_per_node; }
  /// Returns the speed per cost (Eq 11).
  double cost_effectiveness() const { return rate / cost; }
};

/// Finds the shapes of jobs, one virtual cluster after another.
///
/// A shape has a power of two nodes with a power of two GPUs on each, at most Request::max_gpus in
/// total and at most as many GPUs as the batch has samples. With a parallel plan (trace/sizes.h) it
/// has a power of two copies of the model, in equal parts on a power of two nodes; if no such shape
/// is possible, the job has what it requests. The virtual cluster must have that many
/// nodes with that many GPUs of an accepted type, and in its NVLink domains if the job has groups.
/// Cost (Eq 10) is GPUs / all GPUs + theta * nodes / all nodes of the virtual cluster
/// (Speeds::theta()).
///
/// Source   Chen et al., TPDS'20 (GENIE), sections 5.2 and 6. Powers of two: as in its figures.
/// Differs  GENIE's nodes are equal; here GPUs and nodes are those of the virtual cluster. Its rate
///          counts only processing; here it includes start-up, as does the run time of a job.
class ShapeChoices {
 public:
  /// Returns the shapes in order of GPUs, then nodes; never empty, because one GPU is a shape.
  /// Valid until the next call.
  const std::vector<ShapeChoice>& of(JobId job, const View& view);

 private:
  /// Equal nodes of a virtual cluster.
  struct Alike {
    std::uint32_t node_class = 0;
    std::uint64_t gpu_type = 0;  // one bit
    cluster::Amount node{};
    int nodes = 0;
    std::map<NodeId, int> in_domain{};  // nodes of each NVLink domain
  };
  struct Machines {
    std::vector<Alike> alike;
    int nodes = 0;
    int gpus = 0;
  };
  const Machines& machines(VcId vc, const View& view);
  /// Returns on how many nodes, with `each` of the GPUs of a job on each, its NVLink groups are
  /// whole; all nodes if `nvlink_gpus` is 0. O(domains).
  static int nodes_for_groups(const Alike& alike, int each, int nvlink_gpus);

  std::vector<Machines> machines_;  // by virtual cluster
  std::vector<ShapeChoice> found_;
};

}  // namespace almanac::policy
