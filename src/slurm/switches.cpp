// SPDX-License-Identifier: Apache-2.0
#include "slurm/switches.h"

#include <cstddef>

namespace almanac::slurm {

std::map<std::string, std::string> paths_of_nodes(std::span<const Switch> switches) {
  std::map<std::string, std::string> above;
  for (const Switch& each : switches) {
    for (const std::string& below : each.switches) above.emplace(below, each.name);
  }
  std::map<std::string, std::string> made;
  for (const Switch& each : switches) {
    if (!each.is_leaf) continue;
    std::string path = each.name;
    auto found = above.find(each.name);
    // A file that is wrong could name a ring.
    for (std::size_t level = 0; found != above.end() && level < switches.size(); ++level) {
      path = found->second + "/" + path;
      found = above.find(found->second);
    }
    for (const std::string& node : each.nodes) made.emplace(node, path);
  }
  return made;
}

}  // namespace almanac::slurm
