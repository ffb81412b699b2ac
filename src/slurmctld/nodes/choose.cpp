// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/nodes/choose.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "slurmctld/nodes/nvlink_groups.h"
#include "slurmctld/nodes/pick.h"

namespace almanac::slurmctld {
namespace {

using Nodes = std::vector<Pick::Taken>;

std::optional<Nodes> try_offers(const Room& room, const Question& question, const Bounds& bounds,
                                std::vector<Offer>& offers) {
  if (static_cast<int>(offers.size()) < bounds.least_nodes) return std::nullopt;
  Pick pick(room.table(), question, bounds, offers);
  bool found = false;
  if (question.partition.least_loaded) {
    found = pick_least_loaded(pick, room);
  } else if (!room.table().switches.empty() && !question.request.contiguous) {
    found = pick_in_tree(pick);
  } else {
    found = pick_consecutive(pick);
  }
  if (!found) return std::nullopt;
  return pick.taken();
}

/// Drops the offers with at most `resources`, but none that the job names, until only as many are
/// left as it needs. Returns whether any was dropped.
bool drop(std::vector<Offer>& offers, int resources, const Question& question,
          const Bounds& bounds) {
  const std::vector<NodeAt>& named = question.request.required;
  auto left = static_cast<int>(offers.size());
  const auto before = left;
  std::erase_if(offers, [&](const Offer& offer) {
    if (left <= bounds.least_nodes || offer.resources() > resources ||
        std::find(named.begin(), named.end(), offer.node) != named.end()) {
      return false;
    }
    --left;
    return true;
  });
  return left < before;
}

/// Picks among all nodes; if that fails, again without those that offer least, step by step.
std::optional<Nodes> pick_nodes(const Room& room, const Question& question, const Bounds& bounds,
                                std::vector<Offer>& offers) {
  make_offers(room, question, bounds, offers);
  std::int64_t cpus = 0;
  for (const Offer& offer : offers) cpus += offer.cpus;
  // No pick can have more than all.
  if (cpus < bounds.cpus) return std::nullopt;
  std::optional<Nodes> nodes = try_offers(room, question, bounds, offers);
  if (nodes || static_cast<int>(offers.size()) <= bounds.least_nodes) return nodes;
  std::set<int> steps;
  for (const Offer& offer : offers) steps.insert(offer.resources());
  if (!steps.empty()) steps.erase(std::prev(steps.end()));  // the largest stay
  for (const int resources : steps) {
    if (!drop(offers, resources, question, bounds)) continue;
    nodes = try_offers(room, question, bounds, offers);
    if (nodes || static_cast<int>(offers.size()) <= bounds.least_nodes) return nodes;
  }
  return std::nullopt;
}

/// Deals tasks to nodes: one each, then in turn, up to what the pick allows on each. Returns the
/// CPUs of the request by node, in the order of the node table.
void deal_tasks(Nodes& nodes, const Question& question, const Bounds& bounds) {
  std::sort(nodes.begin(), nodes.end(),
            [](const Pick::Taken& one, const Pick::Taken& other) { return one.node < other.node; });
  if (question.is_exclusive()) return;
  const int each = question.request.cpus_per_task;
  std::vector<int> dealt(nodes.size());
  int left = bounds.tasks;
  for (bool is_first = true, moved = true; left > 0 && moved; is_first = false) {
    moved = false;
    for (std::size_t at = 0; at < nodes.size() && left > 0; ++at) {
      if (!is_first && dealt[at] + each > nodes[at].cpus) continue;
      dealt[at] += each;
      --left;
      moved = true;
    }
  }
  for (std::size_t at = 0; at < nodes.size(); ++at) nodes[at].cpus = std::max(1, dealt[at]);
}

int gpus_on(const Pick::Taken& node, const Question& question, int& left) {
  const NodeRequest& request = question.request;
  switch (request.gpu_scope) {
    case GpuScope::none:
      return 0;
    case GpuScope::node:
      return request.gpus;
    case GpuScope::socket:
      return request.gpus * request.sockets_per_node;
    case GpuScope::task:
      return request.gpus * std::max(1, node.cpus / request.cpus_per_task);
    case GpuScope::job: {
      const int gpus = std::min(left, node.gpus);
      left -= gpus;
      return gpus;
    }
  }
  return 0;
}

/// Deals the cores of a share to sockets: one core each in turn, or one task each if a task needs
/// several CPUs. Such tasks stay on the first socket with free cores if it holds them all.
void deal_cores(const Room& room, const NodeRequest& request, Share& share) {
  const Node& of = room.table().nodes[share.node];
  if (of.sockets <= 1) return;
  std::array<int, kMostSockets> free = room.free_cores(share.node);
  int left = share.cpus / of.threads_per_core;
  if (request.cpus_per_task > 1) {
    const auto first = std::find_if(free.begin(), free.end(), [](int cores) { return cores > 0; });
    const auto take = [&](std::size_t socket, int cores) {
      free[socket] -= cores;
      share.cores[socket] = static_cast<std::int16_t>(share.cores[socket] + cores);
      left -= cores;
    };
    if (first != free.end() && *first >= left) {
      return take(static_cast<std::size_t>(first - free.begin()), left);
    }
    const int threads = request.one_thread_per_core ? 1 : of.threads_per_core;
    const int each = (request.cpus_per_task + threads - 1) / threads;
    for (bool moved = true; left >= each && moved;) {
      moved = false;
      for (std::size_t socket = 0; socket < free.size() && left >= each; ++socket) {
        if (free[socket] < each) continue;
        take(socket, each);
        moved = true;
      }
    }
  }
  for (bool moved = true; left > 0 && moved;) {
    moved = false;
    for (std::size_t socket = 0; socket < free.size() && left > 0; ++socket) {
      if (free[socket] == 0) continue;
      --free[socket];
      ++share.cores[socket];
      --left;
      moved = true;
    }
  }
}

Share share_of(const Room& room, const Question& question, const Pick::Taken& node,
               int& gpus_left) {
  const NodeRequest& request = question.request;
  const Node& of = room.table().nodes[node.node];
  Share share{.node = node.node};
  const int asked = node.cpus;
  if (question.is_exclusive()) {
    share.cpus = of.cpus;
    share.gpus = of.gpus;
  } else {
    const int threads = of.threads_per_core;
    share.cpus =
        request.one_thread_per_core ? asked * threads : (asked + threads - 1) / threads * threads;
    share.gpus = room.draw_gpus(node.node, request.gpu_type, gpus_on(node, question, gpus_left));
  }
  if (request.whole_memory) {
    share.memory_mb = of.memory_mb;
  } else if (request.memory_per_node_mb > 0) {
    share.memory_mb = request.memory_per_node_mb;
  } else if (request.memory_per_task_mb > 0) {
    share.memory_mb = request.memory_per_task_mb * std::max(1, asked / request.cpus_per_task);
  } else {
    const bool counts_used =
        request.one_thread_per_core && !request.charges_idle_threads && !question.is_exclusive();
    share.memory_mb = request.memory_per_cpu_mb * (counts_used ? asked : share.cpus);
  }
  deal_cores(room, request, share);
  return share;
}

std::optional<Nodes> pick_with_feature(const Room& room, Question& question, const Bounds& bounds,
                                       std::vector<Offer>& offers) {
  if (question.request.one_of.empty()) return pick_nodes(room, question, bounds, offers);
  for (const TypeId feature : question.request.one_of) {
    question.feature = feature;
    if (auto nodes = pick_nodes(room, question, bounds, offers)) return nodes;
  }
  return std::nullopt;
}

std::optional<Nodes> pick_in_row(const Room& room, Question& question, const Bounds& bounds,
                                 std::vector<Offer>& offers) {
  std::optional<Nodes> nodes = pick_with_feature(room, question, bounds, offers);
  for (int row = 0; !nodes && row < question.partition.rows && question.partition.rows > 1; ++row) {
    question.row = row;
    nodes = pick_with_feature(room, question, bounds, offers);
  }
  return nodes;
}

std::optional<Allocation> choose_freely(const Room& room, const Question& question) {
  const Bounds bounds = bounds_of(question.request, question.partition, room.table().size());
  std::vector<Offer> offers;
  Question in_row = question;
  std::optional<Nodes> nodes = pick_in_row(room, in_row, bounds, offers);
  if (!nodes) return std::nullopt;
  deal_tasks(*nodes, question, bounds);
  Allocation allocation{.partition = question.partition.id,
                        .row = std::max(0, in_row.row),
                        .whole = question.is_exclusive()};
  int gpus_left = question.request.gpus;
  for (const Pick::Taken& node : *nodes) {
    allocation.shares.push_back(share_of(room, question, node, gpus_left));
  }
  return allocation;
}

}  // namespace

std::optional<Allocation> choose(const Room& room, const Question& question) {
  if (question.stale != nullptr) {
    for (const auto& [node, near] : weights_of_test(room, question)) (*question.stale)[node] = near;
  }
  std::optional<Allocation> found = choose_freely(room, question);
  if (!found || is_in_groups(room.table(), *found, question.request.nvlink_gpus)) return found;
  return choose_in_groups(room, question, *found, choose_freely);
}

bool can_start(const Room& room, const Question& question) {
  if (question.request.nvlink_gpus > 0) {
    Question asked = question;
    asked.stale = nullptr;
    return choose(room, asked).has_value();
  }
  const Bounds bounds = bounds_of(question.request, question.partition, room.table().size());
  std::vector<Offer> offers;
  Question in_row = question;
  return pick_in_row(room, in_row, bounds, offers).has_value();
}

}  // namespace almanac::slurmctld
