// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/shape_choices.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "cluster/nvlink_domains.h"
#include "trace/sizes.h"

namespace almanac::policy {

const ShapeChoices::Machines& ShapeChoices::machines(VcId vc, const View& view) {
  if (machines_.size() <= index(vc)) machines_.resize(index(vc) + 1);
  Machines& made = machines_[index(vc)];
  if (made.gpus > 0) return made;
  const std::vector<std::string> types = view.cluster.gpu_types();
  const std::vector<NodeId> domains = cluster::nvlink_domains(view.cluster);
  const cluster::VirtualCluster& owner = view.cluster.vcs[index(vc)];
  for (std::uint32_t offset = 0; offset < owner.num_nodes; ++offset) {
    const NodeId node{static_cast<std::uint32_t>(index(owner.first)) + offset};
    const std::uint32_t node_class = view.cluster.nodes[index(node)].node_class;
    const cluster::NodeClass& make = view.cluster.classes[node_class];
    if (make.gpus == 0) continue;
    auto known = std::find_if(made.alike.begin(), made.alike.end(),
                              [&](const Alike& each) { return each.node_class == node_class; });
    if (known == made.alike.end()) {
      const auto bound = [](double given, std::int32_t amount) {
        return given > 0 ? amount : cluster::kUnbounded;
      };
      const auto type = std::find(types.begin(), types.end(), make.gpu_type) - types.begin();
      known = made.alike.insert(
          known, {.node_class = node_class,
                  .gpu_type = std::uint64_t{1} << type,
                  .node = {make.gpus, bound(make.cpus, cluster::cpu_milli(make.cpus)),
                           bound(make.memory_gb, cluster::memory_mb(make.memory_gb))}});
    }
    ++known->nodes;
    ++known->in_domain[domains.empty() ? node : domains[index(node)]];
    ++made.nodes;
    made.gpus += make.gpus;
  }
  return made;
}

int ShapeChoices::nodes_for_groups(const Alike& alike, int each, int nvlink_gpus) {
  if (nvlink_gpus == 0) return alike.nodes;
  const int of_group = nvlink_gpus / std::gcd(nvlink_gpus, each);
  int nodes = 0;
  for (const auto& [domain, here] : alike.in_domain) nodes += here - here % of_group;
  return nodes;
}

const std::vector<ShapeChoice>& ShapeChoices::of(JobId job, const View& view) {
  const trace::Request& request = view.request(job);
  const cluster::Demand& asked = view.demand(view.progress(job).demand);
  const Machines& have = machines(view.progress(job).vc, view);
  const int most = request.batch > 0 ? std::min(request.max_gpus, request.batch) : request.max_gpus;
  const auto is_there = [&](int nodes, int each) {
    return std::any_of(have.alike.begin(), have.alike.end(), [&](const Alike& alike) {
      return nodes_for_groups(alike, each, asked.nvlink_gpus) >= nodes &&
             (alike.gpu_type & asked.gpu_types) != 0 && alike.node.covers(asked.of(each));
    });
  };
  found_.clear();
  const int copy = trace::size_step(request);
  for (int gpus = copy; gpus <= most; gpus *= 2) {
    for (int nodes = 1; nodes <= gpus; nodes *= 2) {
      const int each = gpus / nodes;
      if (gpus % nodes != 0 || !is_there(nodes, each)) continue;
      found_.push_back({.nodes = nodes,
                        .gpus_per_node = each,
                        .rate = view.speeds->rate(job, nodes, each),
                        .cost = static_cast<double>(gpus) / have.gpus +
                                view.speeds->theta() * nodes / have.nodes});
    }
  }
  const auto enough = [&](const ShapeChoice& each) { return each.gpus() >= request.min_gpus; };
  if (std::any_of(found_.begin(), found_.end(), enough)) {
    std::erase_if(found_, [&](const ShapeChoice& each) { return !enough(each); });
  }
  if (found_.empty() && copy > 1) {
    found_.push_back({.nodes = 0,
                      .gpus_per_node = request.gpus,
                      .cost = static_cast<double>(request.gpus) / have.gpus});
  }
  ALMANAC_CHECK(!found_.empty(), "job {} was let in and fits nowhere", index(job));
  return found_;
}

}  // namespace almanac::policy
