// SPDX-License-Identifier: Apache-2.0
#include "manager/node.h"

namespace almanac::manager {

void tell_types(const text::Gres& gres, Node& node) {
  int typed = 0;
  for (const text::TypedGpus& each : gres.types) typed += each.count;
  node.types.clear();
  if (gres.types.size() > 1 && typed == gres.gpus) node.types = gres.types;
}

std::vector<Node> by_type(const Node& node) {
  if (node.types.empty()) return {node};
  std::vector<Node> made;
  for (const text::TypedGpus& each : node.types) {
    Node& part = made.emplace_back(node);
    part.gpu_type = each.type;
    part.gpus = each.count;
    part.types.clear();
  }
  return made;
}

}  // namespace almanac::manager
