// SPDX-License-Identifier: GPL-3.0-or-later
#include "gateway/tell_node.h"

#include <span>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "gateway/tell_job.h"
#include "slurm/gres.h"
#include "slurm/switches.h"
#include "slurm/types.h"
#include "text/host_list.h"

namespace almanac::gateway {
namespace {

using manager::Licence;
using manager::Node;
using manager::Partition;
using manager::Power;
using manager::Reservation;

Power power_of(std::uint32_t state) {
  if ((state & NODE_STATE_POWERING_DOWN) != 0) return Power::powering_down;
  // One that is woken is still POWERED_DOWN until its program has been called.
  if ((state & (NODE_STATE_POWERING_UP | NODE_STATE_POWER_UP)) != 0) return Power::powering_up;
  if ((state & NODE_STATE_POWERED_DOWN) != 0) return Power::off;
  if ((state & NODE_STATE_POWER_DOWN) != 0) return Power::to_power_down;
  return Power::on;
}

/// Sets the state of a node from a number, as slurm/node_words.h does for words.
void tell_state(std::uint32_t state, Node& node) {
  const std::uint32_t base = state & NODE_STATE_BASE;
  node.power = power_of(state);
  constexpr std::uint32_t kNothingStarts = NODE_STATE_DRAIN | NODE_STATE_FAIL | NODE_STATE_MAINT |
                                           NODE_STATE_REBOOT_REQUESTED | NODE_STATE_REBOOT_ISSUED |
                                           NODE_STATE_INVALID_REG;
  node.drained = (state & kNothingStarts) != 0 || base == NODE_STATE_UNKNOWN ||
                 base == NODE_STATE_DOWN || base == NODE_STATE_ERROR || base == NODE_STATE_FUTURE ||
                 // One that sleeps or boots does not answer either.
                 (node.power == Power::on && (state & NODE_STATE_NO_RESPOND) != 0);
  node.busy = base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED ||
              (state & NODE_STATE_COMPLETING) != 0;
  node.reserved = (state & (NODE_STATE_RES | NODE_STATE_MAINT)) != 0;
}

std::string oversubscribe_of(std::uint16_t max_share) {
  if (max_share == 0) return "EXCLUSIVE";
  const int jobs = max_share & ~SHARED_FORCE;
  if ((max_share & SHARED_FORCE) != 0) return fmt::format("FORCE:{}", jobs);
  return jobs == 1 ? "NO" : fmt::format("YES:{}", jobs);
}

std::vector<std::string> names_in(const char* list) {
  return text::expand_hosts(text(list)).value_or(std::vector<std::string>{});
}

}  // namespace

std::vector<Node> tell(const node_info_msg_t& nodes, const std::vector<Partition>& partitions) {
  std::unordered_map<std::string, std::vector<std::string>> of_node;
  for (const Partition& partition : partitions) {
    for (const std::string& node : partition.nodes) of_node[node].push_back(partition.name);
  }
  std::vector<Node> told;
  told.reserve(nodes.record_count);
  for (const node_info_t& info : std::span(nodes.node_array, nodes.record_count)) {
    if (info.name == nullptr) continue;  // a gap in Slurm's table
    Node node{.name = info.name};
    const auto gres = slurm::parse_gres(text(info.gres)).value_or(slurm::Gres{});
    node.gpu_type = gres.gpu_type;
    node.gpus = gres.gpus;
    node.shards = gres.shards;
    node.mps = gres.mps;
    manager::tell_types(gres, node);
    node.cpus = info.cpus_efctv != 0 ? info.cpus_efctv : info.cpus;
    node.memory_gb = static_cast<double>(info.real_memory) / slurm::kMibPerGb;
    node.weight = info.weight;
    node.partitions = std::move(of_node[node.name]);
    node.features = text(info.features);
    node.reason = text(info.reason);
    tell_state(info.node_state, node);
    told.push_back(std::move(node));
  }
  return told;
}

std::vector<Partition> tell(const partition_info_msg_t& partitions) {
  std::vector<Partition> told;
  for (const partition_info_t& info :
       std::span(partitions.partition_array, partitions.record_count)) {
    told.push_back({.name = text(info.name),
                    .nodes = names_in(info.nodes),
                    .up = (info.state_up & PARTITION_SCHED) != 0,
                    .is_default = (info.flags & PART_FLAG_DEFAULT) != 0,
                    .priority_tier = info.priority_tier,
                    .max_time = limit(info.max_time),
                    .oversubscribe = oversubscribe_of(info.max_share)});
  }
  return told;
}

std::vector<Reservation> tell(const reserve_info_msg_t& reservations) {
  std::vector<Reservation> told;
  for (const reserve_info_t& info :
       std::span(reservations.reservation_array, reservations.record_count)) {
    told.push_back({.name = text(info.name),
                    .nodes = names_in(info.node_list),
                    .start = Time(std::chrono::seconds(info.start_time)),
                    .end = moment(info.end_time),
                    .users = text(info.users),
                    .accounts = text(info.accounts)});
  }
  return told;
}

std::map<std::string, std::string> tell(const topo_info_response_msg_t& switches) {
  std::vector<slurm::Switch> told;
  for (const topo_info_t& info : std::span(switches.topo_array, switches.record_count)) {
    told.push_back({.name = text(info.name),
                    .is_leaf = info.level == 0,
                    .nodes = names_in(info.level == 0 ? info.nodes : nullptr),
                    .switches = names_in(info.switches)});
  }
  return slurm::paths_of_nodes(told);
}

std::vector<Licence> tell(const license_info_msg_t& licences) {
  std::vector<Licence> told;
  for (const slurm_license_info_t& info : std::span(licences.lic_array, licences.num_lic)) {
    told.push_back({.name = text(info.name),
                    .total = static_cast<int>(info.total),
                    .used = static_cast<int>(info.in_use)});
  }
  return told;
}

}  // namespace almanac::gateway
