// SPDX-License-Identifier: Apache-2.0
#include "kube/left_alone.h"

#include <fmt/format.h>

namespace almanac::kube {

std::string strategy_command(const std::string& queue, const std::string& strategy) {
  return fmt::format(
      R"(kubectl patch clusterqueue {} --type merge -p '{{"spec":{{"queueingStrategy":"{}"}}}}')",
      queue, strategy);
}

std::string left_alone(const std::string& queue, const std::string& why) {
  return fmt::format(
      "queue {} is StrictFIFO and Almanac does not order it{}: its workloads wait several times as "
      "long as by Kueue's default. To end that: {}",
      queue, why.empty() ? "" : fmt::format(" ({})", why),
      strategy_command(queue, "BestEffortFIFO"));
}

}  // namespace almanac::kube
