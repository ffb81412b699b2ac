// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/nodes/offers.h"

#include <algorithm>

namespace almanac::slurmctld {
namespace {

constexpr int kNoCap = 255;

int rounded_up(int number, int step) { return (number + step - 1) / step * step; }

/// What one job needs of any node.
struct NodeNeed {
  int cpus = 1;
  int gpus = 0;           // 0 = a CPU job
  int near_cap = kNoCap;  // near GPUs beyond this number do not make a node lighter
  int known_tasks = 0;    // tasks on each node, if they are known before nodes are chosen
};

NodeNeed need_of(const Question& question, const Bounds& bounds) {
  const NodeRequest& request = question.request;
  NodeNeed need;
  need.cpus = request.cpus_per_task;
  if (request.tasks_per_node > 0) {
    need.cpus *= request.tasks_per_node;
  } else if (bounds.most_nodes == 1) {
    need.cpus *= bounds.tasks;
  }
  need.cpus = std::max({1, need.cpus, request.least_cpus_per_node});
  switch (request.gpu_scope) {
    case GpuScope::none:
      return need;
    case GpuScope::node:
      need.gpus = need.near_cap = request.gpus;
      break;
    case GpuScope::job:
      need.gpus = 1;
      need.near_cap = request.gpus;
      break;
    case GpuScope::task:
      need.gpus = request.gpus * (bounds.most_nodes == 1 ? bounds.tasks : 1);
      need.near_cap = request.gpus * bounds.tasks;
      break;
    case GpuScope::socket:
      need.gpus = request.gpus * request.sockets_per_node;
      break;
  }
  if (request.tasks_per_node > 0) {
    need.known_tasks = request.tasks_per_node;
  } else if (request.max_nodes == 1 && !request.is_range) {
    need.known_tasks = bounds.tasks;
  } else if (bounds.tasks == 1 || (request.max_nodes > 0 && bounds.tasks == bounds.least_nodes &&
                                   request.max_nodes == bounds.least_nodes)) {
    need.known_tasks = 1;
  }
  return need;
}

bool has_features(const Node& node, const std::vector<FeatureTerm>& terms) {
  return std::all_of(terms.begin(), terms.end(), [&](const FeatureTerm& term) {
    return std::any_of(term.any_of.begin(), term.any_of.end(), [&](TypeId feature) {
      return std::find(node.features.begin(), node.features.end(), feature) != node.features.end();
    });
  });
}

/// CPUs that the sockets leave to a job that bounds tasks or asks cores by socket.
int cpus_by_socket(const Room& room, NodeAt node, const NodeRequest& request, int free) {
  const std::array<int, kMostSockets> cores = room.free_cores(node);
  const int threads = room.table().nodes[node].threads_per_core;
  int cpus = 0;
  int sockets = 0;
  for (const int each : cores) {
    if (each == 0 || each < request.cores_per_socket) continue;
    ++sockets;
    int of_socket = each * threads;
    if (request.tasks_per_socket > 0) {
      of_socket = std::min(of_socket, request.tasks_per_socket * request.cpus_per_task);
    }
    cpus += of_socket;
  }
  return sockets < request.sockets_per_node ? 0 : std::min(cpus, free);
}

/// CPUs that a node has for the job, before GPUs are considered; 0 = it cannot be used.
int cpus_on(const Room& room, const Question& question, NodeAt node) {
  const NodeRequest& request = question.request;
  const Node& of = room.table().nodes[node];
  int free = question.row < 0 ? room.free_cpus(node)
                              : room.free_cpus(node, question.partition, question.row);
  if (!room.suits(node, question.partition)) return 0;
  if (question.is_exclusive() && !room.is_idle(node)) return 0;
  const int memory = room.free_memory_mb(node);
  if (request.whole_memory) {
    if (room.used_memory_mb(node) > 0) return 0;
  } else if (request.memory_per_node_mb > 0) {
    if (memory < request.memory_per_node_mb) return 0;
  } else if (request.memory_per_task_mb > 0) {
    free = std::min(free, memory / request.memory_per_task_mb * request.cpus_per_task);
  } else if (request.memory_per_cpu_mb > 0) {
    free = std::min(free, memory / request.memory_per_cpu_mb);
  }
  if (question.partition.most_cpus_per_node > 0) {
    free = std::min(free, question.partition.most_cpus_per_node -
                              room.partition_cpus(node, question.partition.id));
  }
  if (request.tasks_per_socket > 0 || request.cores_per_socket > 0) {
    free = cpus_by_socket(room, node, request, free);
  }
  if (request.one_thread_per_core) free /= of.threads_per_core;
  return std::max(0, free - free % request.cpus_per_task);
}

}  // namespace

Bounds bounds_of(const NodeRequest& request, const PartitionRules& partition, std::size_t nodes) {
  Bounds bounds;
  bounds.tasks = request.tasks;
  bounds.cpus = request.least_cpus();
  bounds.least_nodes =
      std::max({request.min_nodes, partition.min_nodes, static_cast<int>(request.required.size())});
  bounds.most_nodes = request.max_nodes > 0 ? request.max_nodes : static_cast<int>(nodes);
  if (partition.max_nodes > 0) bounds.most_nodes = std::min(bounds.most_nodes, partition.max_nodes);
  bounds.wanted_nodes = request.is_range ? bounds.most_nodes : bounds.least_nodes;
  if (request.tasks_given && request.tasks_per_node == 0) {
    bounds.most_nodes = std::min(bounds.most_nodes, std::max(bounds.tasks, bounds.least_nodes));
  }
  if (request.tasks_per_node > 0) {
    const int tasks = rounded_up(bounds.tasks, request.tasks_per_node);
    bounds.least_nodes = std::max(bounds.least_nodes, tasks / request.tasks_per_node);
  }
  bounds.most_nodes = std::max(bounds.most_nodes, bounds.least_nodes);
  return bounds;
}

int leave_weights_of_empty_nodes(const NodeTable& table, const Question& question,
                                 const NodeBits& nodes) {
  const NodeNeed need =
      need_of(question, bounds_of(question.request, question.partition, table.size()));
  if (need.gpus == 0 || question.stale == nullptr) return 0;
  int suitable = 0;
  nodes.each([&](NodeAt node) {
    int gpus = 0;
    for (const GpuCount& each : table.nodes[node].gpus) {
      if (question.request.gpu_type == kAnyGpu || question.request.gpu_type == each.type) {
        gpus += each.count;
      }
    }
    if (gpus < need.gpus) return;
    ++suitable;
    (*question.stale)[node] = static_cast<std::uint8_t>(std::min({gpus, need.near_cap, kNoCap}));
  });
  return suitable;
}

LeftWeights weights_of_test(const Room& room, const Question& question) {
  const NodeNeed need =
      need_of(question, bounds_of(question.request, question.partition, room.table().size()));
  LeftWeights weights;
  if (need.gpus == 0) return weights;
  question.candidates.each_common(room.nodes_with(need.gpus), [&](NodeAt node) {
    const int gpus = room.free_gpus(node, question.request.gpu_type);
    if (gpus < need.gpus) return;
    weights.emplace_back(node, static_cast<std::uint8_t>(std::min({gpus, need.near_cap, kNoCap})));
  });
  return weights;
}

void make_offers(const Room& room, const Question& question, const Bounds& bounds,
                 std::vector<Offer>& offers) {
  const NodeRequest& request = question.request;
  const NodeNeed need = need_of(question, bounds);
  offers.clear();
  const auto add = [&](NodeAt node) {
    const Node& of = room.table().nodes[node];
    Offer offer{.node = node};
    if (need.gpus > 0) {
      offer.gpus = room.free_gpus(node, request.gpu_type);
      if (offer.gpus < need.gpus) return;
    }
    if (!request.features.empty() && !has_features(of, request.features)) return;
    if (question.feature >= 0 && !has_features(of, {{{question.feature}}})) return;
    if (!request.excluded.empty() && std::find(request.excluded.begin(), request.excluded.end(),
                                               node) != request.excluded.end()) {
      return;
    }
    offer.cpus = cpus_on(room, question, node);
    if (offer.cpus < need.cpus) return;
    if (need.gpus > 0 && need.known_tasks > 0) {
      offer.cpus = std::min(offer.cpus, need.known_tasks * request.cpus_per_task);
    }
    if (request.gpu_scope == GpuScope::task) {
      offer.cpus = std::min(offer.cpus, offer.gpus / request.gpus * request.cpus_per_task);
    }
    if (request.cpus_per_gpu > 0) {
      const int most = offer.cpus / request.cpus_per_gpu;
      if (most < need.gpus) return;
      offer.gpus = std::min(offer.gpus, most);
    }
    if (request.tasks_per_node > 0 && !question.is_exclusive()) {
      offer.cpus = std::min(offer.cpus, request.tasks_per_node * request.cpus_per_task);
    }
    int near = 0;
    if (need.gpus > 0) {
      near = std::min({offer.gpus, need.near_cap, kNoCap});
    } else if (question.stale != nullptr) {
      near = (*question.stale)[node];
    }
    offer.weight = (std::int64_t{of.weight} << 8 | 0xff) - near;
    offers.push_back(offer);
  };
  if (need.gpus > 0) {
    question.candidates.each_common(room.nodes_with(need.gpus), add);
  } else {
    question.candidates.each(add);
  }
}

}  // namespace almanac::slurmctld
