// SPDX-License-Identifier: Apache-2.0
#include "tick/free_nodes.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::elastic {

FreeNodes::FreeNodes(const TickOptions& options)
    : per_node_(options.gpus_per_node),
      free_(static_cast<std::size_t>(options.nodes), options.gpus_per_node) {}

void FreeNodes::take(const Shares& shares) {
  for (const NodeShare& share : shares) free_[static_cast<std::size_t>(share.node)] -= share.gpus;
}

Shares FreeNodes::take_emptiest(int gpus) {
  Shares taken;
  while (gpus > 0) {
    const auto most = std::max_element(free_.begin(), free_.end());
    ALMANAC_CHECK(*most > 0, "{} GPUs are wanted and none is free", gpus);
    const int some = std::min(*most, gpus);
    taken.push_back({.node = static_cast<int>(most - free_.begin()), .gpus = some});
    *most -= some;
    gpus -= some;
  }
  return taken;
}

Shares FreeNodes::take_tightest(int gpus) {
  Shares taken;
  const auto take_some = [&](std::vector<int>::iterator node, int some) {
    taken.push_back({.node = static_cast<int>(node - free_.begin()), .gpus = some});
    *node -= some;
    gpus -= some;
  };
  for (auto node = free_.begin(); node != free_.end(); ++node) {
    if (*node == per_node_ && gpus >= per_node_) take_some(node, per_node_);
  }
  while (gpus > 0) {
    auto best = std::max_element(free_.begin(), free_.end());
    if (*best == 0) break;
    for (auto node = free_.begin(); node != free_.end(); ++node) {
      if (*node >= gpus && *node < *best) best = node;
    }
    take_some(best, std::min(gpus, *best));
  }
  std::sort(taken.begin(), taken.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  return taken;
}

}  // namespace almanac::elastic
