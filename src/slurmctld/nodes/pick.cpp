// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/nodes/pick.h"

#include <algorithm>

namespace almanac::slurmctld {

Pick::Pick(const NodeTable& table, const Question& question, const Bounds& bounds,
           std::vector<Offer>& offers)
    : table_(table),
      question_(question),
      bounds_(bounds),
      offers_(offers),
      cpus_left_(bounds.cpus),
      most_cpus_left_(bounds.cpus),
      nodes_left_(question.request.gpu_scope == GpuScope::job
                      ? std::min(bounds.least_nodes, bounds.wanted_nodes)
                      : std::max(bounds.least_nodes, bounds.wanted_nodes)),
      least_nodes_left_(bounds.least_nodes),
      most_nodes_left_(bounds.most_nodes),
      gpus_left_(question.request.gpu_scope == GpuScope::job ? question.request.gpus : 0) {
  for (Offer& each : offers_) each.taken = false;
}

void Pick::take(Offer& offer) {
  int cpus = offer.cpus;
  if (!question_.is_exclusive()) {
    const int core =
        question_.request.one_thread_per_core ? 1 : table_.nodes[offer.node].threads_per_core;
    const int most = most_cpus_left_ - std::max(0, least_nodes_left_ - 1) * core;
    cpus = std::min(cpus, std::max(1, most));
  }
  taken_.push_back({offer.node, cpus, offer.gpus});
  offer.taken = true;
  cpus_left_ -= cpus;
  most_cpus_left_ -= cpus;
  --nodes_left_;
  --least_nodes_left_;
  --most_nodes_left_;
  gpus_left_ = std::max(0, gpus_left_ - offer.gpus);
}

bool Pick::take_required() {
  for (const NodeAt node : question_.request.required) {
    const auto found =
        std::lower_bound(offers_.begin(), offers_.end(), node,
                         [](const Offer& offer, NodeAt than) { return offer.node < than; });
    if (found == offers_.end() || found->node != node) return false;
    take(*found);
  }
  return true;
}

}  // namespace almanac::slurmctld
