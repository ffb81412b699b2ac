// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads a cluster from what every Slurm site has: slurm.conf with gres.conf, or the output of
/// `scontrol show nodes` or `sinfo`.
///
/// Partitions that share nodes become one virtual cluster, "debug+gpu"; a single virtual cluster
/// takes every job. A node with several GPU types becomes one node per type, each with its share of
/// the cores and memory.
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

/// A node as Slurm describes it.
struct SlurmNode {
  std::string name{};
  text::Gres gres{};
  double cpus = 0;       ///< 0 if unknown.
  double memory_gb = 0;  ///< 0 if unknown.
  std::vector<std::string> partitions{};
  bool is_out = false;  ///< Currently down, drained or in maintenance.
  Where where{};
};

struct SlurmSite {
  std::vector<SlurmNode> nodes;
  bool tells_partitions = false;
  std::vector<std::string> notes;
};

/// Whether `text` is one of these formats, judged by its content.
bool is_slurm_text(std::string_view text);

/// Returns the cluster that file `path` with content `text` describes. Also reads the gres.conf
/// next to a slurm.conf, and the files that it includes. Fails with `invalid`, naming file and
/// line, or the command to run if the text has no GPUs.
Result<Cluster> read_slurm_text(const std::string& path, std::string_view text);

/// Reads slurm.conf, gres.conf, or both in one file.
Result<SlurmSite> read_slurm_conf(const std::string& path, std::string_view text);
/// Reads `scontrol show nodes`, in blocks or with -o.
Result<SlurmSite> read_scontrol_nodes(const std::string& path, std::string_view text);
/// Reads `sinfo` with its header; columns are separated by blanks or `|`.
Result<SlurmSite> read_sinfo(const std::string& path, std::string_view text);

/// The command that prints everything Almanac reads about nodes.
inline constexpr const char* kShowNodes = "scontrol show nodes -o > nodes.txt";

}  // namespace almanac::cluster
