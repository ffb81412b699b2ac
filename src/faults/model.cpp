// SPDX-License-Identifier: Apache-2.0
#include "faults/model.h"

#include <algorithm>
#include <cmath>

#include "faults/checkpoint.h"

namespace almanac::faults {

double Model::node_per_day(int gpus) const {
  double rate = 0;
  for (const Cause& cause : causes) {
    if (cause.unit == Unit::node || cause.unit == Unit::link) rate += cause.per_day;
    if (cause.unit == Unit::gpu) rate += gpus * cause.per_day;
  }
  return rate;
}

double Model::job_per_day(int gpus) const {
  double rate = 0;
  for (const Cause& cause : causes) {
    if (cause.unit == Unit::software) rate += gpus * cause.per_day;
    if (cause.unit == Unit::user) rate += cause.per_day;
  }
  return rate;
}

Duration Model::mean_time_to_failure(int gpus, int gpus_per_node) const {
  const int nodes = std::max(1, (gpus + gpus_per_node - 1) / std::max(1, gpus_per_node));
  double rate = nodes * node_per_day(gpus_per_node) + job_per_day(gpus);
  if (nodes == 1) {  // its network does not matter
    for (const Cause& cause : causes) {
      if (cause.unit == Unit::link) rate -= cause.per_day;
    }
  }
  if (!(rate > 1e-9)) return kNoDuration;
  return Duration{std::llround(seconds(24h) * 1e3 / rate)};
}

Duration Model::interval(int gpus, int gpus_per_node) const {
  if (checkpoints.every > Duration{0}) return checkpoints.every;
  const Duration mean = mean_time_to_failure(gpus, gpus_per_node);
  if (mean == kNoDuration) return kNoDuration;
  // Below a second of writing the best interval tends to 0, which no program does.
  const double write_s = std::max(1.0, seconds(checkpoints.write));
  return Duration{std::llround(1e3 * best_interval(write_s, seconds(mean)))};
}

}  // namespace almanac::faults
