// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads nodes, partitions, switches, reservations and licenses from records of slurm.conf,
/// gres.conf, topology.conf and scontrol show.
///
/// Each function fails with `invalid`, naming file and line.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "site/site.h"
#include "site/values.h"

namespace almanac::site {

/// Parses "gpu:a100:4(S:0-1),shard:16,gpu:8". Returns false if it is no such list.
bool parse_node_gres(std::string_view text, std::vector<NodeGres>& made);

/// Reads the nodes and partitions of the lines of slurm.conf, and the devices of gres.conf. Nodes
/// with State=FUTURE are not part of the cluster.
Result<void> read_conf_machines(std::span<const Record> conf, std::span<const Record> gres,
                                Site& site);

/// Reads scontrol show node. Nodes that the site has already keep their place, and what the command
/// does not show (the devices of gres.conf, the NodeName line they are of).
Result<void> read_nodes(std::span<const Record> records, Site& site);

/// Reads scontrol show partition, in place of the partitions that the site has.
Result<void> read_partitions(std::span<const Record> records, Site& site);

/// Reads the switches or blocks of topology.conf, or of scontrol show topology.
Result<void> read_topology(std::span<const Record> records, Site& site);

Result<void> read_reservations(std::span<const Record> records, Site& site);

/// Reads scontrol show licenses, in place of the licenses of slurm.conf.
Result<void> read_licenses(std::span<const Record> records, Site& site);

/// Reads rows of sacctmgr show event. Passes over those of nodes that the site does not have.
Result<void> read_events(std::span<const Record> rows, Site& site);

}  // namespace almanac::site
