// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Nodes, partitions, reservations and licences of libslurm as ours.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gateway/owned.h"
#include "slurm/node.h"

namespace almanac::gateway {

/// Nodes do not say of which partitions they are; partitions say which nodes they have.
std::vector<slurm::Node> tell(const node_info_msg_t& nodes,
                              const std::vector<slurm::Partition>& partitions);
std::vector<slurm::Partition> tell(const partition_info_msg_t& partitions);
std::vector<slurm::Reservation> tell(const reserve_info_msg_t& reservations);
std::vector<slurm::Licence> tell(const license_info_msg_t& licences);
/// The switches above each node (slurm/switches.h).
std::map<std::string, std::string> tell(const topo_info_response_msg_t& switches);

}  // namespace almanac::gateway
