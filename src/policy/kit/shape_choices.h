// SPDX-License-Identifier: Apache-2.0

/// \file
/// The shapes among which a job that leaves the choice may be given one.
#pragma once

#include <vector>

#include "policy/contract/contract.h"

namespace almanac::policy {

struct ShapeChoice {
  int nodes = 1;
  int gpus_per_node = 1;
  double rate = 1;  ///< Beside the shape in which the job's run time is known.
  double cost = 0;  ///< What it occupies.

  int gpus() const { return nodes * gpus_per_node; }
  /// What is done for what is occupied (Eq 11).
  double cost_effectiveness() const { return rate / cost; }
};

/// Finds them, one virtual cluster after another.
///
/// A shape has a power of two nodes with a power of two GPUs on each, at most Request::max_gpus in
/// all, and at most as many as the batch has samples; the virtual cluster has so many nodes with so
/// many GPUs of a type that the job takes. Cost (Eq 10) is GPUs / all GPUs + theta * nodes /
/// all nodes of the virtual cluster (Speeds::theta()).
///
/// Source   Chen et al., TPDS'20 (GENIE), sections 5.2 and 6. Powers of two: as in its figures.
/// Differs  its nodes are alike; here GPUs and nodes are those of the virtual cluster. Its rate is
///          that of processing alone; here starting up counts, as it does in how long a job takes.
class ShapeChoices {
 public:
  /// In the order of GPUs, then nodes; never empty: one GPU is a shape. Valid until the next call.
  const std::vector<ShapeChoice>& of(JobId job, const View& view);

 private:
  /// Nodes of a virtual cluster that are alike.
  struct Alike {
    std::uint32_t node_class = 0;
    std::uint64_t gpu_type = 0;  // one bit
    cluster::Amount node{};
    int nodes = 0;
  };
  struct Machines {
    std::vector<Alike> alike;
    int nodes = 0;
    int gpus = 0;
  };
  const Machines& machines(VcId vc, const View& view);

  std::vector<Machines> machines_;  // of each virtual cluster
  std::vector<ShapeChoice> found_;
};

}  // namespace almanac::policy
