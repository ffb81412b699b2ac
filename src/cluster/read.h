// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads a cluster from a file, and writes it as TOML that a user can edit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/cluster.h"

namespace almanac::cluster {

/// Reads the cluster that `text` describes: "20x8" (20 nodes of 8 GPUs), a TOML file, or a CSV file
/// of a known kind, recognized by its header:
///   date,<vc>...[,total]              Helios' GPUs of each virtual cluster day by day
///   sn,cpu_milli,memory_mib,gpu,model Alibaba openb's nodes
///   vc,node num                       Philly's nodes of each virtual cluster, 8 GPUs each
///   machineId, number of GPUs, ...    Philly's machines
/// or output of `sinfo` (cluster/slurm_file.h); site/cluster.h reads Slurm's other files too.
/// docs/reference/formats.md shows each. Fails with `not_found` or `invalid`, naming file and line.
Result<Cluster> read_cluster(const std::string& text);

/// Returns the source of a value in the TOML, by virtual cluster, class of nodes and key; "" for no
/// comment.
using Reasons = std::function<std::string(VcId, std::uint32_t node_class, std::string_view key)>;

/// Writes the cluster as TOML that read_cluster() can read back, with reasons as comments.
std::string to_toml(const Cluster& cluster, const Reasons& reasons = {});

/// Reads Helios' table of GPUs per virtual cluster and day. Each virtual cluster gets the largest
/// number of nodes that it ever needs, and capacity changes at midnight UTC.
Result<Cluster> read_vc_table(const std::string& path, int gpus_per_node = 8);

}  // namespace almanac::cluster
