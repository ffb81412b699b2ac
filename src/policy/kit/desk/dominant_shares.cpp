// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/desk/dominant_shares.h"

#include <algorithm>

namespace almanac::policy {

DominantShares::DominantShares(const cluster::Cluster& machines) {
  for (const cluster::VirtualCluster& vc : machines.vcs) {
    Total& total = total_.emplace_back();
    for (std::uint32_t offset = 0; offset < vc.num_nodes; ++offset) {
      const cluster::Node& node = machines.nodes[index(vc.first) + offset];
      const cluster::NodeClass& make = machines.classes[node.node_class];
      total.gpus += make.gpus;
      total.cpu_milli += cluster::cpu_milli(make.cpus);
      total.memory_mb += cluster::memory_mb(make.memory_gb);
    }
  }
}

void DominantShares::tell(Candidate& seen, VcId vc, const cluster::Demand& wish) const {
  const Total& total = total_[index(vc)];
  const auto part = [](double want, double have) { return have > 0 ? want / have : 0.0; };
  const cluster::Amount all = wish.total();
  const double gpus = all.gpus * wish.gpu_milli / double{cluster::kWholeGpu};
  for (const double share : {part(gpus, total.gpus), part(all.cpu_milli, total.cpu_milli),
                             part(all.memory_mb, total.memory_mb)}) {
    seen.largest_share = std::max(seen.largest_share, share);
    seen.sum_of_shares += share;
  }
}

}  // namespace almanac::policy
