// SPDX-License-Identifier: Apache-2.0
#include "cluster/sockets.h"

#include <algorithm>

namespace almanac::cluster {

void set_sockets(NodeClass& make, const std::vector<std::vector<int>>& sockets) {
  std::erase_if(make.connections,
                [](const Connection& each) { return each.by == Between::socket; });
  make.sockets = 1;
  if (sockets.size() < 2) return;
  int next = 0;
  bool is_even = true;
  for (const std::vector<int>& each : sockets) {
    is_even = is_even && each.size() == sockets.front().size();
    for (const int gpu : each) is_even = is_even && gpu == next++;
  }
  if (is_even) {
    make.sockets = static_cast<int>(sockets.size());
    return;
  }
  for (const std::vector<int>& each : sockets) make.connections.push_back({Between::socket, each});
}

void set_gpus(NodeClass& make, int gpus) {
  std::vector<std::vector<int>> sockets;
  const int size = make.gpus / make.sockets;
  for (int gpu = 0; gpu < gpus && make.sockets > 1; ++gpu) {
    if (gpu % size == 0 || gpu >= make.gpus) sockets.emplace_back();
    sockets.back().push_back(gpu);
  }
  for (Connection& each : make.connections) {
    std::erase_if(each.gpus, [&](int gpu) { return gpu >= gpus; });
    if (each.by == Between::socket && !each.gpus.empty()) sockets.push_back(each.gpus);
  }
  std::erase_if(make.connections, [](const Connection& each) { return each.gpus.size() < 2; });
  make.gpus = gpus;
  set_sockets(make, sockets);
}

std::vector<Connection> told_connections(const NodeClass& make) {
  std::vector<Connection> made;
  const int size = make.gpus / make.sockets;
  for (int gpu = 0; gpu < make.gpus && make.sockets > 1; ++gpu) {
    if (gpu % size == 0) made.push_back({Between::socket, {}});
    made.back().gpus.push_back(gpu);
  }
  made.insert(made.end(), make.connections.begin(), make.connections.end());
  return made;
}

}  // namespace almanac::cluster
