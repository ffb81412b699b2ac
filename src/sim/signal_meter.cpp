// SPDX-License-Identifier: Apache-2.0
#include "sim/signal_meter.h"

#include <algorithm>
#include <string_view>

#include "cluster/ledger.h"
#include "sim/gpu_rent.h"

namespace almanac::sim {
namespace {

void add_to(PoweredUse& sum, const PoweredUse& use) {
  sum.on += use.on;
  sum.booting += use.booting;
  sum.asleep += use.asleep;
  sum.busy += use.busy;
}

/// GPUs of a node that jobs hold, parts as parts.
double held_gpus(const cluster::Ledger& ledger, NodeId node, int gpus) {
  double held = 0;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    held += cluster::kWholeGpu - ledger.free_milli(node, gpu);
  }
  return held / cluster::kWholeGpu;
}

/// Adds `rate` per second from `from` to `until` to the hours of the day.
void add_by_hour(std::array<double, 24>& hours, Time from, Time until, double rate) {
  for (Time at = from; at < until;) {
    const auto hour = std::chrono::floor<std::chrono::hours>(at.time_since_epoch());
    const Time next = std::min(until, Time{hour + 1h});
    const auto of_day = static_cast<std::size_t>(((hour.count() % 24) + 24) % 24);
    hours[of_day] += rate * seconds(next - at);
    at = next;
  }
}

}  // namespace

SignalMeter::SignalMeter(const cluster::Cluster& cluster, const std::vector<std::string>& signals) {
  for (const std::string& name : signals) {
    State& state = states_.emplace_back();
    uses_.push_back({.name = name});
    if (!is_gpu_rent(name)) continue;
    const std::string type = name.substr(name.find('/') + 1);
    for (std::uint32_t node = 0; node < cluster.nodes.size(); ++node) {
      const cluster::NodeClass& made = cluster.classes[cluster.nodes[node].node_class];
      if (made.gpu_type == type) state.nodes.emplace_back(NodeId{node}, made.gpus);
    }
  }
}

void SignalMeter::add(Time from, Time until, const cluster::Ledger& ledger, double spared_gpus) {
  using cluster::Power;
  const double step_s = seconds(until - from);
  const PoweredUse use{.on = step_s * ledger.gpus(Power::on),
                       .booting = step_s * ledger.gpus(Power::booting),
                       .asleep = step_s * ledger.gpus(Power::asleep),
                       .busy = step_s * (ledger.busy_gpus() - spared_gpus)};
  for (std::size_t signal = 0; signal < states_.size(); ++signal) {
    const State& state = states_[signal];
    SignalUse& made = uses_[signal];
    double held = 0;
    const bool is_reserved = is_reserved_price(made.name);
    for (const auto& [node, gpus] : state.nodes) {
      held += is_reserved ? gpus : held_gpus(ledger, node, gpus);
    }
    made.held_gpu_s += step_s * held;
    if (!state.has_value) {
      add_to(made.unvalued, use);
      continue;
    }
    if (made.stretches.empty() || made.stretches.back().first != state.value) {
      made.stretches.emplace_back(state.value, PoweredUse{});
    }
    add_to(made.stretches.back().second, use);
    if (held == 0) continue;
    made.held_weighted += state.value * step_s * held;
    add_by_hour(made.held_by_hour, from, until, state.value * held);
  }
}

void SignalMeter::set(std::size_t signal, double value) {
  states_[signal].value = value;
  states_[signal].has_value = true;
}

}  // namespace almanac::sim
