// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/slurm/plain_site.h"

#include <algorithm>

#include <fmt/format.h>

namespace almanac::policy::whole {
namespace {

/// CPUs of a node that gives no number of cores: more than jobs on it ask, but sums stay small.
constexpr int kManyCpus = 10'000'000;
constexpr std::int64_t kMuchMemory_mb = 1'000'000'000;

std::string kind_feature(const std::vector<cluster::Cluster::GpuKind>& kinds,
                         const cluster::NodeClass& make) {
  const auto kind = std::find(kinds.begin(), kinds.end(), cluster::Cluster::kind_of(make));
  return fmt::format("kind:{}", kind - kinds.begin());
}

std::string type_feature(const cluster::NodeClass& make) { return "type:" + make.gpu_type; }

}  // namespace

site::Site plain_site(const cluster::Cluster& cluster) {
  site::Site site;
  site.tres = site::standard_tres();
  const std::vector<cluster::Cluster::GpuKind> kinds = cluster.gpu_kinds();
  for (std::size_t at = 0; at < cluster.nodes.size(); ++at) {
    const cluster::NodeClass& make = cluster.classes[cluster.nodes[at].node_class];
    site::Node node{
        .name = fmt::format("n{}", at),
        .cpus = make.cpus > 0 ? cluster::cpu_milli(make.cpus) : kManyCpus,
        .memory_mb = make.memory_gb > 0 ? cluster::memory_mb(make.memory_gb) : kMuchMemory_mb};
    node.effective_cpus = node.cpus;
    if (make.gpus > 0) node.gres.push_back({.name = "gpu", .count = make.gpus});
    site.nodes.push_back(std::move(node));
  }
  for (std::size_t at = 0; at < cluster.nodes.size(); ++at) {
    const cluster::NodeClass& make = cluster.classes[cluster.nodes[at].node_class];
    site.nodes[at].features = {kind_feature(kinds, make), type_feature(make)};
  }
  for (const cluster::VirtualCluster& vc : cluster.vcs) {
    site::Partition partition{.name = vc.name};
    for (std::uint32_t at = 0; at < vc.num_nodes; ++at) {
      partition.nodes.push_back(static_cast<site::NodeIndex>(index(vc.first)) + at);
    }
    site.partitions.push_back(std::move(partition));
  }
  return site;
}

PlainRequests::PlainRequests(const cluster::Cluster& cluster, const slurmctld::NodeTable& table)
    : kinds_(cluster.vcs.size()) {
  const std::vector<cluster::Cluster::GpuKind> kinds = cluster.gpu_kinds();
  for (const cluster::Node& node : cluster.nodes) {
    const cluster::NodeClass& make = cluster.classes[node.node_class];
    const auto at = std::find(kinds.begin(), kinds.end(), cluster::Cluster::kind_of(make));
    const std::uint64_t bit = std::uint64_t{1} << (at - kinds.begin());
    std::vector<Kind>& here = kinds_[index(node.vc)];
    const auto known =
        std::find_if(here.begin(), here.end(), [&](const Kind& each) { return each.bit == bit; });
    if (known != here.end()) {
      known->gpus_per_node = std::max(known->gpus_per_node, make.gpus);
      continue;
    }
    here.push_back({bit, make.gpus, *table.find_feature(kind_feature(kinds, make)),
                    *table.find_feature(type_feature(make))});
  }
}

slurmctld::NodeRequest PlainRequests::of(const cluster::Demand& demand, VcId vc) const {
  slurmctld::NodeRequest ask;
  ask.tasks_given = true;
  if (demand.is_cpu_job()) {
    ask.tasks = std::max(1, demand.tasks);
    ask.cpus_per_task = std::max(1, demand.cpu_milli);
    ask.memory_per_task_mb = demand.memory_mb;
    return ask;
  }
  int gpus_per_node = 0;
  for (const Kind& kind : kinds_[index(vc)]) {
    if ((kind.bit & demand.gpu_types) == 0 || kind.gpus_per_node == 0) continue;
    gpus_per_node = std::max(gpus_per_node, kind.gpus_per_node);
    ask.one_of.push_back(kind.kind);
  }
  // Nodes of one kind, else all those with GPUs of one type.
  for (const Kind& kind : kinds_[index(vc)]) {
    const bool is_new =
        std::find(ask.one_of.begin(), ask.one_of.end(), kind.type) == ask.one_of.end();
    const bool is_suitable = (kind.bit & demand.gpu_types) != 0 && kind.gpus_per_node > 0;
    if (is_suitable && is_new && ask.one_of.size() > 1) ask.one_of.push_back(kind.type);
  }
  if (kinds_[index(vc)].size() == 1) ask.one_of.clear();
  const auto cpus_of = [&](int units) { return std::max(1, demand.cpu_milli) * units; };
  ask.gpus = 1;
  ask.nvlink_gpus = demand.nvlink_gpus;
  if (demand.nodes > 0 || demand.gpus <= gpus_per_node) {
    const int nodes = std::max(1, demand.nodes);
    ask.min_nodes = ask.max_nodes = ask.tasks = nodes;
    ask.tasks_per_node = 1;
    ask.gpu_scope = slurmctld::GpuScope::node;
    ask.gpus = demand.gpus / nodes;
    ask.cpus_per_task = cpus_of(ask.gpus);
    ask.memory_per_node_mb = demand.memory_mb * ask.gpus;
    return ask;
  }
  ask.min_nodes = (demand.gpus + gpus_per_node - 1) / std::max(1, gpus_per_node);
  ask.tasks = demand.gpus;
  ask.gpu_scope = slurmctld::GpuScope::task;
  ask.cpus_per_task = cpus_of(1);
  ask.memory_per_task_mb = demand.memory_mb;
  return ask;
}

}  // namespace almanac::policy::whole
