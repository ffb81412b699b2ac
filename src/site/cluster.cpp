// SPDX-License-Identifier: Apache-2.0
#include "site/cluster.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/read.h"
#include "cluster/slurm_file.h"
#include "site/read.h"

namespace almanac::site {
namespace {

constexpr double kMibPerGb = 1024;

/// The names of the switches above each node, the highest first: "core/left/s1".
std::vector<std::string> racks_of(const Site& site) {
  std::vector<std::string> made(site.nodes.size());
  for (const Switch& leaf : site.switches) {
    if (!leaf.below.empty()) continue;
    std::string path = leaf.name;
    for (auto at = leaf.parent; at >= 0; at = site.switches[static_cast<std::size_t>(at)].parent) {
      path = site.switches[static_cast<std::size_t>(at)].name + "/" + path;
    }
    for (const NodeIndex node : leaf.nodes) made[node] = path;
  }
  return made;
}

/// `is_block`: the rack is a block of topology/block, which stands for an NVLink domain.
cluster::SlurmNode node_of(const Node& node, std::string rack, bool is_block) {
  cluster::SlurmNode made{
      .name = node.name,
      .cpus = static_cast<double>(node.effective_cpus),
      .memory_gb = static_cast<double>(node.memory_mb) / kMibPerGb,
      .is_out = node.state.is_out() || node.state.maintenance,
      .rack = std::move(rack),
      .nvlink_domain = is_block ? cluster::NvlinkDomain::rack : cluster::NvlinkDomain::node};
  // Slurm's defaults, 1 CPU and 1 MiB, stand where nothing is given.
  if (node.memory_mb <= 1) made.memory_gb = 0;
  if (node.memory_mb <= 1 && node.cpus <= 1) made.cpus = 0;
  for (const NodeGres& each : node.gres) {
    const int count = static_cast<int>(std::min<std::int64_t>(each.count, 1'000'000));
    if (each.name == "shard") made.gres.shards += count;
    if (each.name == "mps") made.gres.mps += count;
    if (each.name != "gpu") continue;
    made.gres.gpus += count;
    if (each.type.empty()) continue;
    const auto known = std::find_if(made.gres.types.begin(), made.gres.types.end(),
                                    [&](const auto& of) { return of.type == each.type; });
    if (known == made.gres.types.end())
      made.gres.types.push_back({each.type, count});
    else
      known->count += count;
  }
  return made;
}

/// Gives each virtual cluster the tier of its partitions, unless all partitions have the same.
void set_tiers(const Site& site, cluster::Cluster& made) {
  std::set<int> all;
  for (const Partition& each : site.partitions) all.insert(each.priority_tier);
  if (all.size() < 2) return;
  for (cluster::VirtualCluster& vc : made.vcs) {
    std::map<int, std::vector<std::string>> by_tier;
    for (const Partition& each : site.partitions) {
      if (made.find_vc_of_jobs(each.name) !=
          VcId{static_cast<std::uint32_t>(&vc - made.vcs.data())}) {
        continue;
      }
      by_tier[each.priority_tier].push_back(each.name);
    }
    if (by_tier.size() == 1) vc.priority_tier = by_tier.begin()->first;
    if (by_tier.size() < 2) continue;
    std::vector<std::string> tiers;
    for (const auto& [tier, names] : by_tier) {
      tiers.push_back(fmt::format("{} ({})", tier, fmt::join(names, ", ")));
    }
    made.notes.push_back(
        fmt::format("partitions that share nodes have priority tiers {}, which only policy slurm "
                    "models: under others their jobs are of one tier",
                    fmt::join(tiers, " and ")));
  }
}

/// GPUs that an association may hold together; -1 for no limit.
std::int64_t gpu_limit(const Site& site, const TresCounts& limits) {
  for (const TresCount& each : limits) {
    if (site.tres[each.tres].name == "gres/gpu") return each.count;
  }
  return -1;
}

/// Accounts that may not hold all GPUs, and those below them, become tenants.
void add_tenants(const Site& site, cluster::Cluster& made) {
  if (!site.config.enforced.limits) return;
  std::map<std::string, int> accounts_of_user;
  for (const Association& each : site.associations) {
    if (!each.is_account() && each.partition.empty()) ++accounts_of_user[each.user];
  }
  std::vector<std::int32_t> tenant(site.associations.size(), -1);
  // A job of a virtual cluster that is called like a tenant would be that tenant's.
  std::set<std::string> taken;
  for (const Partition& each : site.partitions) taken.insert(each.name);
  for (std::size_t at = 0; at < site.associations.size(); ++at) {
    const Association& each = site.associations[at];
    const std::int32_t parent =
        each.parent < 0 ? -1 : tenant[static_cast<std::size_t>(each.parent)];
    const std::int64_t limit = gpu_limit(site, each.group.tres);
    if (limit < 0 && parent < 0) continue;
    // A user of several accounts would be of several tenants; jobs have one.
    const bool is_user = !each.is_account();
    if (is_user && (!each.partition.empty() || accounts_of_user[each.user] > 1)) continue;
    const std::string& name = is_user ? each.user : each.account;
    if (!taken.insert(name).second) continue;
    tenant[at] = static_cast<std::int32_t>(made.tenants.size());
    cluster::Tenant one{.name = name, .parent = parent};
    if (limit >= 0) one.limit = static_cast<double>(limit);
    made.tenants.push_back(std::move(one));
  }
}

/// What the schedule of the site depends on and a cluster cannot express.
void note_the_rest(const Site& site, cluster::Cluster& made) {
  std::vector<std::string> rest;
  const auto any = [](const auto& all, auto is) { return std::any_of(all.begin(), all.end(), is); };
  if (site.config.priority.type == PriorityType::multifactor) rest.emplace_back("priority factors");
  if (any(site.qos, [](const Qos& each) {
        return each.group != GroupLimits{} || each.job != JobLimits{} ||
               each.per_user != EachLimits{} || each.per_account != EachLimits{};
      })) {
    rest.emplace_back("QOS limits");
  }
  if (any(site.partitions, [](const Partition& each) {
        return each.max_time != text::kUnlimited || each.max_nodes != kNoLimit ||
               each.max_cpus_per_node != kNoLimit;
      })) {
    rest.emplace_back("partition limits");
  }
  if (site.config.preempt.is_on()) rest.emplace_back("preemption");
  if (!site.reservations.empty()) rest.emplace_back("reservations");
  if (!site.licenses.empty()) rest.emplace_back("licenses");
  if (any(site.partitions,
          [](const Partition& each) { return each.oversubscribe != OverSubscribe::no; })) {
    rest.emplace_back("OverSubscribe");
  }
  if (rest.empty()) return;
  made.notes.push_back(
      fmt::format("only policy slurm models these parts of the site: {}", fmt::join(rest, ", ")));
}

}  // namespace

Result<cluster::Cluster> cluster_of(const Site& site, const std::string& path) {
  cluster::SlurmSite all{.nodes = {}, .tells_partitions = true, .notes = site.notes};
  std::vector<std::string> racks = racks_of(site);
  for (std::size_t at = 0; at < site.nodes.size(); ++at) {
    const bool is_block = site.config.topology.type == TopologyType::block && !racks[at].empty();
    all.nodes.push_back(node_of(site.nodes[at], std::move(racks[at]), is_block));
  }
  for (const Partition& partition : site.partitions) {
    for (const NodeIndex node : partition.nodes) {
      all.nodes[node].partitions.push_back(partition.name);
    }
  }
  auto made = cluster::cluster_of(all, path);
  if (!made) return made;
  if (made->gpus() == 0) {
    return fail(Code::invalid, "no node has a GPU in its Gres", {path},
                "Slurm lists GPUs if slurm.conf has Gres=gpu:TYPE:N; otherwise list them in a TOML "
                "file (almanac cluster show 4x8 -o toml is a start)");
  }
  set_tiers(site, *made);
  add_tenants(site, *made);
  note_the_rest(site, *made);
  return made;
}

Result<cluster::Cluster> read_cluster(const std::string& text, std::shared_ptr<const Site>* site) {
  if (site != nullptr) site->reset();
  if (!is_site(text)) return cluster::read_cluster(text);
  auto read = read_site(text);
  if (!read) return tl::unexpected(read.error());
  auto made = cluster_of(*read, text);
  if (made && site != nullptr) *site = std::make_shared<const Site>(std::move(*read));
  return made;
}

}  // namespace almanac::site
