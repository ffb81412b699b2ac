// SPDX-License-Identifier: Apache-2.0
#include "rules/fragment/node.h"

#include <algorithm>

namespace almanac::fragment {

bool fits(const NodeImage& node, const Request& request) {
  if (node.cpu_milli < request.cpu_milli || node.memory_mib < request.memory_mib ||
      node.pods >= kMaxPods) {
    return false;
  }
  if (request.gpus == 0) return true;
  if ((node.model & request.models) == 0) return false;
  int enough = 0;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    enough += node.free_milli[static_cast<std::size_t>(gpu)] >= request.gpu_milli ? 1 : 0;
  }
  return enough >= request.gpus;
}

Gpus tightest(const NodeImage& node, const Request& request) {
  Gpus chosen = 0;
  for (int left = request.gpus; left > 0; --left) {
    int best = -1;
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      const int milli = node.free_milli[static_cast<std::size_t>(gpu)];
      if (milli < request.gpu_milli || (chosen >> gpu & 1U) != 0) continue;
      if (best < 0 || milli < node.free_milli[static_cast<std::size_t>(best)]) best = gpu;
    }
    chosen |= Gpus{1} << best;
  }
  return chosen;
}

void take(NodeImage& node, const Request& request, Gpus gpus) {
  node.cpu_milli -= request.cpu_milli;
  node.memory_mib -= request.memory_mib;
  ++node.pods;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    if ((gpus >> gpu & 1U) != 0) {
      auto& milli = node.free_milli[static_cast<std::size_t>(gpu)];
      milli = static_cast<std::int16_t>(milli - request.gpu_milli);
    }
  }
  if (request.gpus > 0) ++node.held[static_cast<std::size_t>(request.shares() ? 0 : request.gpus)];
}

}  // namespace almanac::fragment
