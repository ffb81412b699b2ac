// SPDX-License-Identifier: Apache-2.0

/// \file
/// AlpaServe: models placed on groups of GPUs, each group a pipeline that several models share.
///
/// Source   Li et al., OSDI'23, sections 4 and 5, and the released simulator and placement
///          policies. Seconds; objectives and latencies are 4-byte numbers there and here.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace almanac::serving {

/// A model cut `op` ways inside an operator and into `pp` stages.
struct AlpaCut {
  int op = 1, pp = 1;
  friend auto operator<=>(const AlpaCut&, const AlpaCut&) = default;
  int devices() const { return op * pp; }
};

struct AlpaProfile {
  std::map<int, std::vector<double>> latency{};  ///< Of each stage, by batch.
  std::vector<double> weights{};                 ///< Bytes of each stage.
};

/// Of one model, by how it is cut.
using AlpaModel = std::map<AlpaCut, AlpaProfile>;

struct AlpaGroup {
  AlpaCut cut{};
  std::vector<int> models{};
  friend bool operator==(const AlpaGroup&, const AlpaGroup&) = default;
};
using AlpaPlacement = std::vector<AlpaGroup>;

struct AlpaRequest {
  double arrival = 0;
  int model = 0;
  float slo = 0;
};

struct AlpaOutcome {
  double finish = 0;  ///< The arrival of a request that is turned away.
  bool good = false;
  int group = -1;  ///< Below 0 = no group has its model.
};

/// One request at a time per stage. O(requests x groups). Models are those of the requests, in
/// their order; each must have the cuts of the groups that hold it.
std::vector<AlpaOutcome> simulate_alpa(const AlpaPlacement& placement,
                                       const std::vector<const AlpaModel*>& models,
                                       const std::vector<AlpaRequest>& requests);
/// The same with batches of what waits, as far as the oldest still meets its objective. As
/// released an idle group for which nothing waits ends the search for others until the next
/// arrival.
std::vector<AlpaOutcome> simulate_alpa_batched(const AlpaPlacement& placement,
                                               const std::vector<const AlpaModel*>& models,
                                               const std::vector<AlpaRequest>& requests);

struct AlpaTask {
  int devices = 1;
  double memory = 0;  ///< Bytes of one device.
  std::vector<const AlpaModel*> models{};
  std::vector<double> rates{};
  std::vector<AlpaRequest> requests{};
};

/// Share of requests that are good, less a little of their latency, more a little for replicas.
double alpa_score(const AlpaTask& task, const AlpaPlacement& placement);

/// Each group one device, filled greedily.
AlpaPlacement place_alpa_replicas(const AlpaTask& task);
/// The best of groups of one size and cut, each filled greedily.
AlpaPlacement place_alpa_search(const AlpaTask& task);
/// Models of like latency on devices of their own, where that is better.
AlpaPlacement place_alpa_search_apart(const AlpaTask& task);
/// Pipelines of four, models in turn.
AlpaPlacement place_alpa_round_robin(const AlpaTask& task);

}  // namespace almanac::serving
