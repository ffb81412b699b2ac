// SPDX-License-Identifier: Apache-2.0

/// \file
/// How a model is divided among GPUs that come and go, and which part of it goes to which GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "inference/service.h"

namespace almanac::inference {

/// Replicas, pipeline stages of a replica, and GPUs of a stage (tensor parallelism).
struct SpotLayout {
  int replicas = 0;  ///< 0: the model does not fit.
  int stages = 1;
  int gpus = 1;

  int replica_gpus() const { return stages * gpus; }
  bool is_divided_like(const SpotLayout& other) const {
    return stages == other.stages && gpus == other.gpus;
  }
};

/// Chooses the layout for a number of GPUs.
///
/// Source   Miao et al., ASPLOS'24 (SpotServe), section 3.2: among the layouts whose throughput is
///          at least the rate of requests the one with the least latency, else the one with the
///          highest throughput.
/// Differs  Throughput and latency of a layout are measured by simulating the first 300 requests of
///          the log on one replica: all at once, and at its part of the rate. All instances are
///          used, and none is rented. Tensor parallelism stays inside an instance.
class SpotLayouts {
 public:
  /// `most_gpus` are those of all instances that are there at one time. Fails like parts(), with
  /// usage for step times of a file, which hold for one division, for prefill-only replicas and for
  /// data-parallel attention, and with unavailable if the model does not fit on `most_gpus`.
  static Result<SpotLayouts> make(const Service& service, const Requests& requests,
                                  int instance_gpus, int most_gpus);

  /// Returns the layout for `gpus` GPUs at `rate` requests per second.
  SpotLayout choose(int gpus, double rate);
  /// Returns the GPUs of the smallest replica.
  int least_gpus() const;
  /// Returns the components of a replica that is divided like `layout`.
  const Parts& parts_of(const SpotLayout& layout) const;
  const Service& service_of(const SpotLayout& layout) const;

 private:
  struct Division {
    Service service;
    Parts parts;
    double throughput;  // requests per second of one replica
  };
  using Key = std::pair<int, int>;  // stages, GPUs

  double latency_s(const Key& key, double replica_rate);

  Requests sample_;
  std::map<Key, Division> divisions_;
  std::map<std::pair<Key, double>, double> latencies_;
};

/// A part of a model: a stage of its layers, and a part of each of these layers.
struct Shard {
  int stage = 0, stages = 1;
  int part = 0, parts = 1;

  double size() const { return 1.0 / (stages * parts); }
  bool operator<(const Shard& other) const {
    return std::tie(stage, stages, part, parts) <
           std::tie(other.stage, other.stages, other.part, other.parts);
  }
};

/// Returns the fraction of the model that two shards have in common.
double in_common(const Shard& a, const Shard& b);

/// Returns the shards of a replica, stage by stage.
std::vector<Shard> shards_of(const SpotLayout& layout);

/// Returns for each wanted shard the GPU that gets it. `gain(gpu, shard)` is what the GPU need not
/// receive for it. There are at least as many GPUs as shards.
///
/// Source   SpotServe, section 3.3: maps GPUs to shards so that most of what they hold is used
///          again.
/// Differs  Takes the largest gain first instead of the matching with the largest sum; of equal
///          ones the first shard, then the first GPU.
template <typename Gain>
std::vector<std::size_t> assign_shards(std::size_t gpus, std::size_t shards, const Gain& gain) {
  struct Pair {
    double gain;
    std::size_t shard, gpu;
  };
  std::vector<Pair> pairs;
  for (std::size_t shard = 0; shard < shards; ++shard) {
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) pairs.push_back({gain(gpu, shard), shard, gpu});
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.gain > b.gain; });
  std::vector<std::size_t> made(shards, gpus);
  std::vector<bool> taken(gpus);
  for (const Pair& each : pairs) {
    if (made[each.shard] < gpus || taken[each.gpu]) continue;
    made[each.shard] = each.gpu;
    taken[each.gpu] = true;
  }
  return made;
}

}  // namespace almanac::inference
