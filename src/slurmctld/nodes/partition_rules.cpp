// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/nodes/request.h"

namespace almanac::slurmctld {

PartitionRules rules_of(const site::Partition& partition, std::uint32_t id) {
  const auto limit = [](std::int64_t value) {
    return value == site::kNoLimit ? 0 : static_cast<int>(value);
  };
  return {.id = id,
          .least_loaded = partition.least_loaded,
          .exclusive = partition.oversubscribe == site::OverSubscribe::exclusive,
          .most_cpus_per_node = limit(partition.max_cpus_per_node),
          .rows = partition.oversubscribe == site::OverSubscribe::force ? partition.rows : 1,
          .min_nodes = static_cast<int>(partition.min_nodes),
          .max_nodes = limit(partition.max_nodes)};
}

}  // namespace almanac::slurmctld
