// SPDX-License-Identifier: Apache-2.0

/// \file
/// Draws what a recipe requests in addition to its GPUs, and how it uses its node: a model, cores,
/// memory traffic.
#pragma once

#include <optional>
#include <vector>

#include "base/rng.h"
#include "stats/alias.h"
#include "trace/generate_plan.h"
#include "trace/workload.h"

namespace almanac::trace {

/// Properties shared by the jobs of a recipe; 0 for unknown.
struct Asks {
  const Workload::Model* model = nullptr;  ///< Null for unknown.
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
