// SPDX-License-Identifier: Apache-2.0
#include "sim/signal_meter.h"

#include <string_view>

#include "cluster/ledger.h"

namespace almanac::sim {
namespace {

void add_to(PoweredUse& sum, double weight, const PoweredUse& use) {
  sum.on += weight * use.on;
  sum.booting += weight * use.booting;
  sum.asleep += weight * use.asleep;
  sum.busy += weight * use.busy;
}

/// GPUs of a node that jobs hold, parts as parts.
double held_gpus(const cluster::Ledger& ledger, NodeId node, int gpus) {
  double held = 0;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    held += cluster::kWholeGpu - ledger.free_milli(node, gpu);
  }
  return held / cluster::kWholeGpu;
}

}  // namespace

SignalMeter::SignalMeter(const cluster::Cluster& cluster, const std::vector<std::string>& signals) {
  for (const std::string& name : signals) {
    State& state = states_.emplace_back();
    uses_.push_back({.name = name});
    if (!is_gpu_price(name)) continue;
    const std::string type = name.substr(name.find('/') + 1);
    for (std::uint32_t node = 0; node < cluster.nodes.size(); ++node) {
      const cluster::NodeClass& made = cluster.classes[cluster.nodes[node].node_class];
      if (made.gpu_type == type) state.nodes.emplace_back(NodeId{node}, made.gpus);
    }
  }
}

void SignalMeter::add(double step_s, const cluster::Ledger& ledger, double spared_gpus) {
  using cluster::Power;
  const PoweredUse use{.on = step_s * ledger.gpus(Power::on),
                       .booting = step_s * ledger.gpus(Power::booting),
                       .asleep = step_s * ledger.gpus(Power::asleep),
                       .busy = step_s * (ledger.busy_gpus() - spared_gpus)};
  for (std::size_t signal = 0; signal < states_.size(); ++signal) {
    const State& state = states_[signal];
    SignalUse& made = uses_[signal];
    if (!state.has_value) {
      add_to(made.unvalued, 1, use);
      continue;
    }
    add_to(made.weighted, state.value, use);
    for (const auto& [node, gpus] : state.nodes) {
      made.held_weighted += state.value * step_s * held_gpus(ledger, node, gpus);
    }
  }
}

void SignalMeter::set(std::size_t signal, double value) {
  states_[signal].value = value;
  states_[signal].has_value = true;
}

}  // namespace almanac::sim
