// SPDX-License-Identifier: Apache-2.0

/// \file
/// Infers the cluster of a job log, if it is not given.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"
#include "trace/trace.h"

namespace almanac::experiment {

/// The source of a value of an inferred cluster.
struct Basis {
  VcId vc{};
  std::uint32_t node_class = 0;  ///< Of the nodes concerned; kAnyClass for the whole cluster.
  std::string key{};             ///< Key in the TOML file: "nodes", "gpus", "gpu_type", ...
  std::string why{};

  static constexpr std::uint32_t kAnyClass = ~std::uint32_t{0};
};

struct InferredCluster {
  cluster::Cluster cluster{};
  std::vector<Basis> bases{};
};

/// Returns a cluster on which `trace` can run; its notes list the assumptions.
///
/// If the log's header gives the machine (Trace::machine) and its jobs name at most one virtual
/// cluster, returns that machine. Otherwise, if the log names the nodes of at least half of the GPU
/// jobs that ran, returns those (experiment/named_nodes.h). Otherwise:
///
/// - GPUs per node: the most of any job on one node; 8 if the log has no nodes
/// - virtual clusters: those that jobs name, if at least half of the jobs name one; otherwise a
///   single one
/// - size of each: the most GPUs in use at once, if the log has start times; otherwise enough for
///   every job to start at submission 90 % of the time; always enough for its largest job that
///   ran
///
/// The size is a lower bound (Cluster::lower_bound). Fails with `invalid` if no job requests
/// a GPU.
Result<InferredCluster> infer(const trace::Trace& trace);

/// The cluster alone.
Result<cluster::Cluster> infer_cluster(const trace::Trace& trace);

/// The cluster as TOML, with what each line rests on behind it.
std::string to_toml(const InferredCluster& inferred);

}  // namespace almanac::experiment
