// SPDX-License-Identifier: Apache-2.0

/// \file
/// Guesses the cluster that a job log came from, when it is not said.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"
#include "trace/trace.h"

namespace almanac::experiment {

/// What a line of an inferred cluster rests on.
struct Basis {
  VcId vc{};
  std::uint32_t node_class = 0;  ///< Of the nodes that it is about; kAnyClass = of the whole.
  std::string key{};             ///< Of the TOML line: "nodes", "gpus", "gpu_type", ...
  std::string why{};

  static constexpr std::uint32_t kAnyClass = ~std::uint32_t{0};
};

struct InferredCluster {
  cluster::Cluster cluster{};
  std::vector<Basis> bases{};
};

/// A cluster on which `trace` can run; its notes say what was assumed.
///
/// If the log's header gives the machine (Trace::machine) and its jobs name at most one virtual
/// cluster, that machine. Else, if the log names the nodes of at least half of the GPU jobs that
/// ran, those (experiment/named_nodes.h). Else
/// GPUs per node: the most that a job had on one node; 8 when the log has no nodes. Virtual
/// clusters: those that jobs name, if at least half of the jobs name one; else a single one. Size
/// of each: the most GPUs that ran at once, where the log has start times; else so many that every
/// job could start when it is submitted, 90 % of the time; always enough for its largest job that
/// ran. That is a lower bound of what was there (Cluster::lower_bound). Fails with invalid when no
/// job asks a GPU.
Result<InferredCluster> infer(const trace::Trace& trace);

/// The cluster alone.
Result<cluster::Cluster> infer_cluster(const trace::Trace& trace);

/// The cluster as TOML, with what each line rests on behind it.
std::string to_toml(const InferredCluster& inferred);

}  // namespace almanac::experiment
