// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace almanac::cluster {

std::string_view to_string(Sharing sharing) {
  switch (sharing) {
    case Sharing::parts:
      return "parts";
    case Sharing::mps:
      return "mps";
    case Sharing::time:
      return "time";
    case Sharing::mig:
      break;
  }
  return "mig";
}

void Cluster::add_vc(std::string name) {
  vcs.push_back({.name = std::move(name),
                 .first = NodeId{static_cast<std::uint32_t>(nodes.size())},
                 .num_nodes = 0});
}

std::vector<std::string> switches_above(const Node& node) {
  std::vector<std::string> made;
  for (std::string path = node.rack; !path.empty();) {
    made.push_back(path);
    const std::size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
  }
  return made;
}

void Cluster::add_nodes(const NodeClass& make, std::uint32_t count, std::vector<std::string> names,
                        const std::string& rack) {
  ALMANAC_CHECK(!vcs.empty(), "add_vc() comes first");
  ALMANAC_CHECK(make.gpus >= 0 && make.gpus <= kMaxGpusPerNode, "{} GPUs", make.gpus);
  const auto found = std::find(classes.begin(), classes.end(), make);
  const auto class_index = static_cast<std::uint32_t>(found - classes.begin());
  if (found == classes.end()) classes.push_back(make);
  names.resize(count);
  for (std::string& name : names) {
    nodes.push_back({.name = std::move(name),
                     .vc = VcId{static_cast<std::uint32_t>(vcs.size() - 1)},
                     .node_class = class_index,
                     .rack = rack});
  }
  vcs.back().num_nodes += count;
}

int Cluster::gpus(VcId vc) const {
  const VirtualCluster& owner = vcs[index(vc)];
  int total = 0;
  for (std::uint32_t offset = 0; offset < owner.num_nodes; ++offset) {
    total += gpus(NodeId{static_cast<std::uint32_t>(index(owner.first)) + offset});
  }
  return total;
}

int Cluster::gpus() const {
  int total = 0;
  for (const Node& node : nodes) total += classes[node.node_class].gpus;
  return total;
}

bool Cluster::counts_cpus() const {
  return std::any_of(classes.begin(), classes.end(),
                     [](const NodeClass& make) { return make.cpus > 0; });
}

bool Cluster::has_links() const {
  return !switches.empty() || std::any_of(classes.begin(), classes.end(),
                                          [](const auto& make) { return make.uplink_gbps > 0; });
}

const Qos* Cluster::find_qos(std::string_view name) const {
  const auto found =
      std::find_if(qos.begin(), qos.end(), [&](const Qos& each) { return each.name == name; });
  return found == qos.end() ? nullptr : &*found;
}

bool Cluster::has_tiers() const {
  const auto has_tier = [](const auto& each) { return each.priority_tier != 0; };
  return std::any_of(qos.begin(), qos.end(), has_tier) ||
         std::any_of(tenants.begin(), tenants.end(), has_tier) ||
         std::any_of(vcs.begin(), vcs.end(), has_tier);
}

int Cluster::tier(std::string_view qos_name, TenantId tenant, VcId vc) const {
  if (const Qos* const own = find_qos(qos_name); own != nullptr && own->priority_tier != 0) {
    return own->priority_tier;
  }
  auto at = tenant == kNoTenant ? -1 : static_cast<std::int32_t>(index(tenant));
  for (; at >= 0; at = tenants[static_cast<std::size_t>(at)].parent) {
    const int tier = tenants[static_cast<std::size_t>(at)].priority_tier;
    if (tier != 0) return tier;
  }
  return vc == kNoVc ? 0 : vcs[index(vc)].priority_tier;
}

TenantId Cluster::find_tenant(std::string_view name) const {
  const auto found = std::find_if(tenants.begin(), tenants.end(),
                                  [&](const Tenant& each) { return each.name == name; });
  if (found == tenants.end()) return kNoTenant;
  return TenantId{static_cast<std::uint16_t>(found - tenants.begin())};
}

namespace {

/// Whether each of the partitions that `some` joins with + is one of those that `all` joins.
bool has_partitions(std::string_view all, std::string_view some) {
  if (some.empty() || all.size() <= some.size()) return false;
  const std::string within = "+" + std::string(all) + "+";
  while (!some.empty()) {
    const std::string_view one = some.substr(0, some.find('+'));
    if (within.find("+" + std::string(one) + "+") == std::string::npos) return false;
    some.remove_prefix(std::min(some.size(), one.size() + 1));
  }
  return true;
}

}  // namespace

VcId Cluster::find_vc(std::string_view name) const {
  const auto found = std::find_if(vcs.begin(), vcs.end(),
                                  [&](const VirtualCluster& vc) { return vc.name == name; });
  if (found == vcs.end()) return kNoVc;
  return VcId{static_cast<std::uint32_t>(found - vcs.begin())};
}

VcId Cluster::find_vc_of_jobs(std::string_view name) const {
  if (const VcId known = find_vc(name); known != kNoVc) return known;
  for (std::uint32_t vc = 0; vc < vcs.size(); ++vc) {
    if (has_partitions(vcs[vc].name, name)) return VcId{vc};
  }
  return kNoVc;
}

std::vector<Cluster::GpuKind> Cluster::gpu_kinds() const {
  std::vector<GpuKind> kinds;
  for (const NodeClass& make : classes) {
    const GpuKind kind = kind_of(make);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

std::vector<std::string> Cluster::gpu_types() const {
  std::vector<std::string> types;
  for (GpuKind& kind : gpu_kinds()) types.push_back(std::move(kind.type));
  return types;
}

std::string Cluster::node_label(NodeId node) const {
  const Node& described = nodes[index(node)];
  if (!described.name.empty()) return described.name;
  return std::to_string(index(node) - index(vcs[index(described.vc)].first));
}

bool is_one_of(std::string_view type, std::string_view wanted) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  if (wanted.empty()) return true;
  while (!wanted.empty()) {
    const std::string_view one = wanted.substr(0, wanted.find('|'));
    const bool equal = std::equal(one.begin(), one.end(), type.begin(), type.end(),
                                  [&](char x, char y) { return lower(x) == lower(y); });
    if (equal) return true;
    wanted.remove_prefix(std::min(wanted.size(), one.size() + 1));
  }
  return false;
}

Cluster merged(const Cluster& cluster) {
  Cluster made = cluster;
  made.takes_every_job = true;
  made.vcs = {{.name = "all",
               .first = NodeId{0},
               .num_nodes = static_cast<std::uint32_t>(cluster.nodes.size())}};
  for (Node& node : made.nodes) node.vc = VcId{0};
  std::vector<int> size;
  for (const VirtualCluster& vc : cluster.vcs) size.push_back(static_cast<int>(vc.num_nodes));
  int total = static_cast<int>(cluster.nodes.size());
  made.changes.clear();
  for (const CapacityChange& change : cluster.changes) {
    total += change.nodes - size[index(change.vc)];
    size[index(change.vc)] = change.nodes;
    // Changes of one instant become one: the last sum.
    if (!made.changes.empty() && made.changes.back().at == change.at) made.changes.pop_back();
    made.changes.push_back({change.at, VcId{0}, total});
  }
  return made;
}

Cluster uniform(std::uint32_t nodes, int gpus) {
  Cluster made;
  made.takes_every_job = true;
  made.add_vc("all");
  made.add_nodes({.gpus = gpus}, nodes);
  return made;
}

}  // namespace almanac::cluster
