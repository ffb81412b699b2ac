// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/read.h"
#include "text/datetime.h"

namespace almanac::cluster {
namespace {

void append_class(std::string& toml, const NodeClass& make) {
  toml += fmt::format("gpus = {}\n", make.gpus);
  if (!make.gpu_type.empty()) toml += fmt::format("gpu_type = \"{}\"\n", make.gpu_type);
  if (make.cpus > 0) toml += fmt::format("cpus = {}\n", make.cpus);
  if (make.memory_gb > 0) toml += fmt::format("memory_gb = {}\n", make.memory_gb);
  if (make.bandwidth_gbs > 0) toml += fmt::format("bandwidth_gbs = {}\n", make.bandwidth_gbs);
  if (make.gpu_power_limit_w > 0) {
    toml += fmt::format("gpu_power_limit_w = {}\n", make.gpu_power_limit_w);
  }
  if (make.uplink_gbps > 0) toml += fmt::format("uplink_gbps = {}\n", make.uplink_gbps);
  if (make.sockets > 1) toml += fmt::format("sockets = {}\n", make.sockets);
  if (make.sharing != Sharing::parts) {
    toml += fmt::format("sharing = \"{}\"\n", to_string(make.sharing));
  }
  if (make.board != nullptr) toml += fmt::format("board = \"{}\"\n", make.board->name);
  if (make.gpu_memory_gb > 0) toml += fmt::format("gpu_memory_gb = {}\n", make.gpu_memory_gb);
  if (make.instance_s != kInstance_s) toml += fmt::format("instance_s = {}\n", make.instance_s);
  if (make.shards_per_gpu > 0) toml += fmt::format("shards_per_gpu = {}\n", make.shards_per_gpu);
  if (make.mps_per_gpu > 0) toml += fmt::format("mps_per_gpu = {}\n", make.mps_per_gpu);
  if (make.nvlink_domain == NvlinkDomain::rack) toml += "nvlink_domain = \"rack\"\n";
  if (make.connections.empty()) return;
  toml += "connections = [\n";
  for (const Connection& each : make.connections) {
    toml +=
        fmt::format("  {{ by = \"{}\", gpus = [{}]", word_of(each.by), fmt::join(each.gpus, ", "));
    toml += each.links > 1 ? fmt::format(", links = {} }},\n", each.links) : " },\n";
  }
  toml += "]\n";
}

constexpr std::uint32_t kNoClass = ~std::uint32_t{0};

/// Each line with what it rests on behind it.
std::string with_reasons(std::string_view lines, VcId vc, std::uint32_t node_class,
                         const Reasons& reasons) {
  if (!reasons) return std::string(lines);
  std::string made;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(line.size() + 1);
    made += line;
    const std::string why = reasons(vc, node_class, line.substr(0, line.find(" = ")));
    if (!why.empty()) made += "  # " + why;
    made += '\n';
  }
  return made;
}

void append_tier(std::string& toml, int tier) {
  if (tier != 0) toml += fmt::format("priority_tier = {}\n", tier);
}

void append_cells(std::string& toml, const Cluster& cluster, const OwnedCells& cells) {
  toml += fmt::format("[[tenant.cell]]\nkind = \"{}\"\n", cells.kind);
  if (cluster.vcs.size() > 1) {
    toml += fmt::format("vc = \"{}\"\n", cluster.vcs[index(cells.vc)].name);
  }
  if (!cells.gpu_type.empty()) toml += fmt::format("gpu_type = \"{}\"\n", cells.gpu_type);
  if (cells.pinned.empty()) {
    toml += fmt::format("cells = {}\n", cells.cells);
  } else {
    toml += fmt::format("pinned = \"{}\"\n", cells.pinned);
  }
}

}  // namespace

std::string to_toml(const Cluster& cluster, const Reasons& reasons) {
  std::string toml;
  if (cluster.takes_every_job) {
    toml += with_reasons("takes_every_job = true\n", VcId{0}, kNoClass, reasons) + "\n";
  }
  for (std::uint32_t number = 0; number < cluster.vcs.size(); ++number) {
    const VirtualCluster& vc = cluster.vcs[number];
    const VcId id{number};
    toml += "[[vc]]\n";
    toml += with_reasons(fmt::format("name = \"{}\"\n", vc.name), id, kNoClass, reasons);
    append_tier(toml, vc.priority_tier);
    // Runs of nodes of one kind and rack become groups.
    for (std::uint32_t from = 0; from < vc.num_nodes;) {
      const std::size_t first = index(vc.first) + from;
      const Node& node = cluster.nodes[first];
      std::uint32_t count = 1;
      while (from + count < vc.num_nodes &&
             cluster.nodes[first + count].node_class == node.node_class &&
             cluster.nodes[first + count].rack == node.rack &&
             cluster.nodes[first + count].name.empty() == node.name.empty()) {
        ++count;
      }
      if (from > 0 || count < vc.num_nodes) toml += "[[vc.group]]\n";
      std::string group = fmt::format("nodes = {}\n", count);
      append_class(group, cluster.classes[node.node_class]);
      if (!node.rack.empty()) group += fmt::format("rack = \"{}\"\n", node.rack);
      if (!node.name.empty()) {
        group += "names = [";
        for (std::uint32_t at = 0; at < count; ++at) {
          group += fmt::format("{}\"{}\"", at > 0 ? ", " : "", cluster.nodes[first + at].name);
        }
        group += "]\n";
      }
      toml += with_reasons(group, id, node.node_class, reasons);
      from += count;
    }
    toml += "\n";
  }
  for (const CapacityChange& change : cluster.changes) {
    toml += fmt::format("[[change]]\nat = \"{}\"\nvc = \"{}\"\nnodes = {}\n\n",
                        change.at == Time::min() ? "start" : text::format_datetime(change.at),
                        cluster.vcs[index(change.vc)].name, change.nodes);
  }
  for (const Tenant& tenant : cluster.tenants) {
    toml += fmt::format("[[tenant]]\nname = \"{}\"\n", tenant.name);
    if (tenant.parent >= 0) {
      toml += fmt::format("parent = \"{}\"\n",
                          cluster.tenants[static_cast<std::size_t>(tenant.parent)].name);
    }
    if (tenant.guarantee > 0) toml += fmt::format("guarantee = {}\n", tenant.guarantee);
    if (tenant.limit < Tenant::kNoLimit) toml += fmt::format("limit = {}\n", tenant.limit);
    if (!tenant.may_borrow) toml += "may_borrow = false\n";
    if (tenant.priority > 0) toml += fmt::format("priority = {}\n", tenant.priority);
    append_tier(toml, tenant.priority_tier);
    for (const OwnedCells& cells : tenant.cells) append_cells(toml, cluster, cells);
    toml += "\n";
  }
  for (const Qos& qos : cluster.qos) {
    toml += fmt::format("[[qos]]\nname = \"{}\"\n", qos.name);
    append_tier(toml, qos.priority_tier);
    if (!qos.users.empty()) {
      toml += fmt::format("users = [\"{}\"]\n", fmt::join(qos.users, "\", \""));
    }
    toml += "\n";
  }
  for (const Switch& each : cluster.switches) {
    toml +=
        fmt::format("[[switch]]\npath = \"{}\"\nuplink_gbps = {}\n\n", each.path, each.uplink_gbps);
  }
  if (cluster.storage.remote_gbs > 0) {
    toml += fmt::format("[storage]\nremote_gbs = {}\ncache_gb = {}\n\n", cluster.storage.remote_gbs,
                        cluster.storage.cache_gb);
  }
  return toml;
}

}  // namespace almanac::cluster
