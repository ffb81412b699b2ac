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

/// The cluster that `text` stands for: "20x8" (20 nodes of 8 GPUs), a TOML file, or a CSV file of a
/// known kind, told by its header:
///   date,<vc>...[,total]              Helios' GPUs of each virtual cluster day by day
///   sn,cpu_milli,memory_mib,gpu,model Alibaba openb's nodes
///   vc,node num                       Philly's nodes of each virtual cluster, 8 GPUs each
///   machineId, number of GPUs, ...    Philly's machines
/// or a text of Slurm: slurm.conf, gres.conf, what scontrol show nodes or sinfo printed
/// (cluster/slurm_file.h).
/// docs/reference/formats.md shows each. Fails with not_found or invalid, naming file and line.
Result<Cluster> read_cluster(const std::string& text);

/// What a line of TOML rests on: of a virtual cluster and a class of nodes, by its key; "" =
/// nothing is to be said.
using Reasons = std::function<std::string(VcId, std::uint32_t node_class, std::string_view key)>;

/// The cluster as TOML that read_cluster() reads back, with reasons as comments.
std::string to_toml(const Cluster& cluster, const Reasons& reasons = {});

/// Applies Helios' table of GPUs per virtual cluster and day: each virtual cluster has as many
/// nodes as it ever needs, and changes of capacity at midnight UTC.
Result<Cluster> read_vc_table(const std::string& path, int gpus_per_node = 8);

}  // namespace almanac::cluster
