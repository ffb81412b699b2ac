// SPDX-License-Identifier: Apache-2.0

/// \file
/// Clusters of Slurm sites: what is common to all descriptions of one, and the output of `sinfo`.
/// The room `site` reads slurm.conf and scontrol.
///
/// Partitions that share nodes become one virtual cluster, "debug+gpu"; a single virtual cluster
/// takes every job. A node with several GPU types becomes one node per type, each with its share of
/// the cores and memory.
///
/// Source   sinfo(1) of Slurm 20.11 to 25.11.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"
#include "text/gres.h"

namespace almanac::cluster {

/// A node as Slurm describes it.
struct SlurmNode {
  std::string name{};
  text::Gres gres{};
  double cpus = 0;       ///< 0 if unknown.
  double memory_gb = 0;  ///< 0 if unknown.
  std::vector<std::string> partitions{};
  bool is_out = false;  ///< Currently down, drained or in maintenance.
  std::string rack{};   ///< As in Node::rack.
  NvlinkDomain nvlink_domain = NvlinkDomain::node;
  Where where{};
};

struct SlurmSite {
  std::vector<SlurmNode> nodes;
  bool tells_partitions = false;
  std::vector<std::string> notes;
};

/// Returns the cluster of a site. Fails with `invalid` if no node is in a partition, or for more
/// GPUs than a node or kinds of GPUs than a cluster can have.
Result<Cluster> cluster_of(const SlurmSite& site, const std::string& path);

/// Whether `text` is output of sinfo with a header, judged by its first lines.
bool is_sinfo_text(std::string_view text);

/// Reads `sinfo` with its header; columns are separated by blanks or `|`. Fails with `invalid`,
/// naming file and line, or the command to run if the text has no GPUs.
Result<SlurmSite> read_sinfo(const std::string& path, std::string_view text);

}  // namespace almanac::cluster
