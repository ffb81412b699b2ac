// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Smart pointers for what libslurm allocates.
#pragma once

#include <memory>
#include <string>

#include <slurm/slurm.h>
#include <slurm/slurmdb.h>

namespace almanac::gateway {

template <auto free>
struct Free {
  void operator()(auto* pointer) const { free(pointer); }
};

using Jobs = std::unique_ptr<job_info_msg_t, Free<slurm_free_job_info_msg>>;
using Nodes = std::unique_ptr<node_info_msg_t, Free<slurm_free_node_info_msg>>;
using Partitions = std::unique_ptr<partition_info_msg_t, Free<slurm_free_partition_info_msg>>;
using Reservations = std::unique_ptr<reserve_info_msg_t, Free<slurm_free_reservation_info_msg>>;
using Licences = std::unique_ptr<license_info_msg_t, Free<slurm_free_license_info_msg>>;
using Switches = std::unique_ptr<topo_info_response_msg_t, Free<slurm_free_topo_info_msg>>;
using Associations = std::unique_ptr<assoc_mgr_info_msg_t, Free<slurm_free_assoc_mgr_info_msg>>;
using Priorities = std::unique_ptr<priority_factors_response_msg_t,
                                   Free<slurm_free_priority_factors_response_msg>>;
using Configuration = std::unique_ptr<slurm_conf_t, Free<slurm_free_ctl_conf>>;

/// Calls `visit` with each element of a List, as `T*`.
template <typename T, typename Visit>
void each(List list, Visit&& visit) {
  if (list == nullptr) return;
  const ListIterator at = slurm_list_iterator_create(list);
  while (auto* const item = static_cast<T*>(slurm_list_next(at))) visit(*item);
  slurm_list_iterator_destroy(at);
}

/// Returns `maybe` as text; libslurm uses null for empty text.
inline std::string text(const char* maybe) { return maybe == nullptr ? "" : maybe; }

}  // namespace almanac::gateway
