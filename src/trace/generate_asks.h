// SPDX-License-Identifier: Apache-2.0

/// \file
/// Draws what a recipe asks besides its GPUs, and what it does to its node: a model, cores, memory
/// traffic.
#pragma once

#include <optional>
#include <vector>

#include "base/rng.h"
#include "stats/alias.h"
#include "trace/generate_plan.h"
#include "trace/workload.h"

namespace almanac::trace {

/// What the jobs of a recipe have in common; 0 = not said.
struct Asks {
  const Workload::Model* model = nullptr;  ///< None = not said.
  float cpus = 0;                          ///< Over all nodes.
  float memory_gb = 0;
  float bandwidth_gbs = 0;
};

class AsksLottery {
 public:
  explicit AsksLottery(const Workload& workload);

  /// Draws for a recipe of this size. The workload must outlive what it gives.
  Asks draw(const PlanSize& size, Rng rng) const;

 private:
  Asks draw_for_gpus(const PlanSize& size, Rng& rng) const;

  const Workload& workload_;
  std::optional<stats::Alias> models_;
  std::optional<stats::Alias> cores_;
};

/// The nodes that a job of `gpus` GPUs needs.
std::int64_t nodes_of(const Workload& workload, std::int64_t gpus);

}  // namespace almanac::trace
