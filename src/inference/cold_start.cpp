// SPDX-License-Identifier: Apache-2.0

#include "inference/cold_start.h"

#include <algorithm>

namespace almanac::inference {
namespace {

constexpr Micros kEngine = 30e6, kWake = 0.1e6;
constexpr double kDiskBandwidth = 5e9;  // bytes per second

}  // namespace

std::optional<WeightTier> weight_tier(std::string_view word) {
  if (word == "disk") return WeightTier::disk;
  if (word == "memory") return WeightTier::memory;
  if (word == "sleep") return WeightTier::sleep;
  return std::nullopt;
}

ColdStart cold_start(const Service& service, WeightTier tier, int node_gpus) {
  const bool from_disk = tier == WeightTier::disk;
  const int readers = from_disk ? std::min(service.replica_gpus(), node_gpus) : 1;
  const double bytes = service.model.bytes() / service.replica_gpus() * readers;
  const double bandwidth = from_disk ? kDiskBandwidth : service.board.host_bandwidth;
  return {.engine = tier == WeightTier::sleep ? kWake : kEngine,
          .weights = 1e6 * bytes / bandwidth,
          .bytes = bytes};
}

}  // namespace almanac::inference
