// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads a cluster from what a Slurm site has at hand: slurm.conf with gres.conf, or what `scontrol
/// show nodes` or `sinfo` printed.
///
/// Partitions that share nodes become one virtual cluster, "debug+gpu"; if there is one only, it
/// takes every job. Nodes with GPUs of several types become one for each type, with its part of the
/// cores and memory.
///
/// Source   slurm.conf(5), gres.conf(5), scontrol(1) and sinfo(1) of Slurm 20.11 to 25.05.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"
#include "text/gres.h"

namespace almanac::cluster {

/// A node as Slurm tells of it.
struct SlurmNode {
  std::string name{};
  text::Gres gres{};
  double cpus = 0;       ///< 0 = not told.
  double memory_gb = 0;  ///< 0 = not told.
  std::vector<std::string> partitions{};
  bool is_out = false;  ///< Down, drained or in maintenance now.
  Where where{};
};

struct SlurmSite {
  std::vector<SlurmNode> nodes;
  bool tells_partitions = false;
  std::vector<std::string> notes;
};

/// Whether `text` is one of the above, by its content.
bool is_slurm_text(std::string_view text);

/// The cluster that the file `path` with content `text` tells of. gres.conf beside a slurm.conf and
/// the files that it includes are read too. Fails with invalid, naming file and line, or what has
/// to be run where GPUs are not told.
Result<Cluster> read_slurm_text(const std::string& path, std::string_view text);

/// slurm.conf, gres.conf, or both in one file.
Result<SlurmSite> read_slurm_conf(const std::string& path, std::string_view text);
/// scontrol show nodes, in blocks or with -o.
Result<SlurmSite> read_scontrol_nodes(const std::string& path, std::string_view text);
/// sinfo with its header: columns parted by blanks or by |.
Result<SlurmSite> read_sinfo(const std::string& path, std::string_view text);

/// What prints all that is read of nodes.
inline constexpr const char* kShowNodes = "scontrol show nodes -o > nodes.txt";

}  // namespace almanac::cluster
