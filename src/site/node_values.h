// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parts of a node that slurm.conf and scontrol write alike. Only for the .cpp files of this room;
/// throws BadValue.
#pragma once

#include <string>
#include <vector>

#include "site/machines.h"
#include "site/site.h"
#include "site/values.h"

namespace almanac::site {

std::vector<NodeGres> node_gres(const Record& record, const std::string& key);
/// "0-3,8" as numbers.
std::vector<int> core_list(const Record& record, const std::string& key);
NodeState node_state(const Record& record);
/// Reads CPUs, sockets, cores, threads, memory, disk and weight.
void read_size(const Record& record, Node& node);
/// Numbers alike nodes alike.
void number_config_records(Site& site);
/// Reads all of a partition but its nodes. `tres` are the resources that the site counts.
Partition partition_of(const Record& record, const std::vector<Tres>& tres,
                       std::vector<std::string>& unknown);

}  // namespace almanac::site
