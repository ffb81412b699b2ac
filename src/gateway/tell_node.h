// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Converts nodes, partitions, reservations and licenses of libslurm to Almanac's types.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gateway/owned.h"
#include "manager/node.h"

namespace almanac::gateway {

/// Takes the partitions of each node from `partitions`, because nodes do not list theirs.
std::vector<manager::Node> tell(const node_info_msg_t& nodes,
                                const std::vector<manager::Partition>& partitions);
std::vector<manager::Partition> tell(const partition_info_msg_t& partitions);
std::vector<manager::Reservation> tell(const reserve_info_msg_t& reservations);
std::vector<manager::Licence> tell(const license_info_msg_t& licences);
/// Returns the switches above each node, by node (slurm/switches.h).
std::map<std::string, std::string> tell(const topo_info_response_msg_t& switches);

}  // namespace almanac::gateway
