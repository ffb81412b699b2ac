// SPDX-License-Identifier: Apache-2.0
#include "elastic/tick/free_nodes.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::elastic {

FreeNodes::FreeNodes(const TickOptions& options)
    : free_(static_cast<std::size_t>(options.nodes), options.gpus_per_node) {}

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

}  // namespace almanac::elastic
