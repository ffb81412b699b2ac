// SPDX-License-Identifier: Apache-2.0
#include "experiment/shares_of_cluster.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "text/host_list.h"
#include "text/human.h"
#include "trace/shares.h"

namespace almanac::experiment {
namespace {

class Shares {
 public:
  explicit Shares(const cluster::Cluster& cluster) : cluster_(cluster) {
    for (const cluster::Node& node : cluster.nodes) {
      const cluster::NodeClass& make = cluster.classes[node.node_class];
      if (!says(make)) continue;
      if (!node.name.empty()) by_name_.emplace(node.name, &make);
      ++count_[&make];
    }
  }

  bool any() const { return !count_.empty(); }

  trace::PartsPerGpu of(const trace::Job& job, const Names& names) const {
    if (job.outcome.node_list != kNoName) {
      const auto hosts = text::expand_hosts(names[job.outcome.node_list]);
      if (hosts && !hosts->empty()) {
        const auto known = by_name_.find(hosts->front());
        if (known != by_name_.end()) return parts(*known->second);
      }
    }
    const cluster::NodeClass* most = nullptr;
    std::size_t nodes = 0;
    for (const cluster::NodeClass& make : cluster_.classes) {
      const auto counted = count_.find(&make);
      const bool suits =
          counted != count_.end() && counted->second > nodes &&
          (make.gpu_type.empty() || cluster::is_one_of(make.gpu_type, names[job.request.gpu_type]));
      if (!suits) continue;
      most = &make;
      nodes = counted->second;
    }
    return most == nullptr ? trace::PartsPerGpu{} : parts(*most);
  }

 private:
  static bool says(const cluster::NodeClass& make) {
    return make.shards_per_gpu > 0 || make.mps_per_gpu > 0;
  }
  static trace::PartsPerGpu parts(const cluster::NodeClass& make) {
    return {make.shards_per_gpu, make.mps_per_gpu};
  }

  const cluster::Cluster& cluster_;
  std::unordered_map<std::string, const cluster::NodeClass*> by_name_;
  std::map<const cluster::NodeClass*, std::size_t> count_;  // nodes
};

}  // namespace

void share_gpus_by(cluster::Cluster& cluster, trace::Trace& trace) {
  const Shares shares(cluster);
  if (!shares.any()) return;
  const auto count =
      trace::share_gpus(trace, [&](const trace::Job& job) { return shares.of(job, trace.names); });
  if (count == 0) return;
  cluster.notes.push_back(fmt::format(
      "{} with shards or MPS: GPU share computed from the cluster's shards_per_gpu and mps_per_gpu",
      text::counted(static_cast<std::uint64_t>(count), "job")));
}

}  // namespace almanac::experiment
