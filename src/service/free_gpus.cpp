// SPDX-License-Identifier: Apache-2.0
#include "service/free_gpus.h"

#include <algorithm>

namespace almanac::service {

FreeGpus count_free_gpus(const std::vector<NodeView>& nodes,
                         const std::map<int, std::uint64_t>& jobs_by_gpus) {
  FreeGpus made;
  std::vector<int> free_by_node;
  int largest = 0;
  for (const NodeView& node : nodes) {
    largest = std::max(largest, static_cast<int>(node.gpus.size()));
    if (node.drained) continue;
    const auto free =
        static_cast<int>(std::count_if(node.gpus.begin(), node.gpus.end(), [](const GpuView& gpu) {
          return gpu.in_service && gpu.jobs.empty();
        }));
    if (free == 0) continue;
    free_by_node.push_back(free);
    made.gpus += free;
    made.most_on_a_node = std::max(made.most_on_a_node, free);
    made.whole_nodes += free == static_cast<int>(node.gpus.size()) ? 1 : 0;
  }
  double jobs = 0;
  double unusable = 0;
  for (const auto& [gpus, count] : jobs_by_gpus) {
    if (gpus == 0) continue;
    jobs += static_cast<double>(count);
    for (const int free : free_by_node) {
      if (std::min(gpus, largest) > free) unusable += static_cast<double>(count) * free;
    }
  }
  if (jobs > 0) made.fragmented = unusable / jobs;
  return made;
}

}  // namespace almanac::service
