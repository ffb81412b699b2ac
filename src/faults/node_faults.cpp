// SPDX-License-Identifier: Apache-2.0
#include "faults/node_faults.h"

#include <algorithm>
#include <cmath>

#include "stats/normal.h"

namespace almanac::faults {
namespace {

/// Streams of nodes; those of jobs are odd (job_faults.h). A node keeps its stream if nodes are
/// added at the end of any virtual cluster, though the nodes of later ones get other numbers.
std::uint64_t stream_of(const cluster::Cluster& cluster, NodeId node) {
  const VcId vc = cluster.nodes[index(node)].vc;
  const std::uint64_t place = index(node) - index(cluster.vcs[index(vc)].first);
  return 2 * ((std::uint64_t{index(vc)} << 32U) + place);
}

bool is_of_node(const Cause& cause) {
  return cause.unit == Unit::node || cause.unit == Unit::gpu || cause.unit == Unit::link;
}

double rate_of(const Cause& cause, int gpus) {
  return cause.unit == Unit::gpu ? gpus * cause.per_day : cause.per_day;
}

}  // namespace

NodeFaults::NodeFaults(const Model& model, const cluster::Cluster& cluster, std::uint64_t seed,
                       Time begin)
    : model_(model), cluster_(cluster) {
  // Rates are means over the fleet, so healthy nodes fail less often.
  const Lemons& lemons = model.lemons;
  const double healthy = 1 / (1 + lemons.share * (lemons.factor - 1));
  nodes_.reserve(cluster.nodes.size());
  for (std::uint32_t number = 0; number < cluster.nodes.size(); ++number) {
    const NodeId node{number};
    Node& made = nodes_.emplace_back(Node{.rng = Rng(seed, stream_of(cluster, node))});
    made.lemon = made.rng.uniform() < lemons.share;
    lemons_ += made.lemon ? 1 : 0;
    const int gpus = cluster.classes[cluster.nodes[number].node_class].gpus;
    made.per_ms = model.node_per_day(gpus) / kDay_ms * healthy * (made.lemon ? lemons.factor : 1);
    draw(node, begin);
  }
}

void NodeFaults::draw(NodeId node, Time after) {
  Node& state = nodes_[index(node)];
  if (state.per_ms <= 0) return;
  const double gap_ms = state.rng.exponential() / state.per_ms;
  const Kind kind = draw_kind(node);
  if (gap_ms > kEndless_ms) return;
  const Duration notice = model_.causes[kind.cause].notice;
  Fault fault{.node = node,
              .cause = kind.cause,
              .is_notice = notice > Duration{0},
              .fails_at = after + Duration{1 + std::llround(gap_ms)},
              .repair = kind.repair};
  fault.at = fault.is_notice ? std::max(after, fault.fails_at - notice) : fault.fails_at;
  queue_.push({.fault = fault, .generation = state.generation, .at = fault.at});
}

NodeFaults::Kind NodeFaults::draw_kind(NodeId node) {
  Rng& rng = nodes_[index(node)].rng;
  const int gpus = cluster_.classes[cluster_.nodes[index(node)].node_class].gpus;
  Kind made{.cause = draw_cause(rng, gpus)};
  const double normal = stats::normal_draw(rng);
  const Cause& cause = model_.causes[made.cause];
  const double repair_ms =
      static_cast<double>(cause.repair.count()) * std::exp(cause.spread * normal);
  made.repair = Duration{std::llround(std::min(repair_ms, kEndless_ms))};
  return made;
}

Duration NodeFaults::draw_repair(NodeId node) { return draw_kind(node).repair; }

std::uint16_t NodeFaults::draw_cause(Rng& rng, int gpus) const {
  double left = rng.uniform() * model_.node_per_day(gpus);
  std::uint16_t last = 0;
  for (std::size_t at = 0; at < model_.causes.size(); ++at) {
    if (!is_of_node(model_.causes[at])) continue;
    last = static_cast<std::uint16_t>(at);
    left -= rate_of(model_.causes[at], gpus);
    if (left < 0) break;
  }
  return last;
}

NodeFaults::Fault NodeFaults::take() {
  const Entry entry = queue_.top();
  queue_.pop();
  if (entry.fault.is_notice) {
    Entry real = entry;
    real.fault.is_notice = false;
    real.fault.at = real.at = real.fault.fails_at;
    queue_.push(real);
  } else {
    draw(entry.fault.node, entry.fault.at);
  }
  drop_replaced();
  return entry.fault;
}

void NodeFaults::replace(NodeId node, Time now) {
  Node& state = nodes_[index(node)];
  const Lemons& lemons = model_.lemons;
  if (state.lemon) state.per_ms /= lemons.factor;
  state.lemon = false;
  ++state.generation;
  draw(node, now);
  drop_replaced();
}

void NodeFaults::drop_replaced() {
  while (!queue_.empty() &&
         queue_.top().generation != nodes_[index(queue_.top().fault.node)].generation) {
    queue_.pop();
  }
}

}  // namespace almanac::faults
