// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long a new replica takes until it answers, by where the weights of its model are.
#pragma once

#include <optional>
#include <string_view>

#include "inference/request.h"
#include "inference/service.h"

namespace almanac::inference {

/// Where the weights are before a replica starts.
enum class WeightTier {
  disk,    ///< On a disk of its node; no process runs.
  memory,  ///< In the page cache of its node; no process runs.
  sleep    ///< In the memory of a process that sleeps (vLLM's sleep mode, level 1).
};

/// "disk", "memory" or "sleep"; nothing for other words.
std::optional<WeightTier> weight_tier(std::string_view word);

struct ColdStart {
  Micros engine = 0;   ///< Start of the process, kernels and CUDA graphs; or its wake-up.
  Micros weights = 0;  ///< Time of the weights.
  double bytes = 0;    ///< Of the weights that take this time, over one link or from one disk.
  Micros all() const { return engine + weights; }
};

/// Returns the cold start of a replica of `service`. Each GPU reads its part of the weights at the
/// board's host bandwidth; from disk, the GPUs of a node read theirs one after the other, and
/// nodes, of `node_gpus` GPUs each, at the same time.
///
/// Source   what sleep mode keeps (vLLM's blog, 2025-10-26): all but the copy of the weights. That
///          post reports 0.1 to 6 s to wake and 30 to 100 s to start.
/// Differs  30 s for the engine, 0.1 s to wake it and 5 GB/s of a disk are assumptions.
ColdStart cold_start(const Service& service, WeightTier tier, int node_gpus = kNodeGpus);

}  // namespace almanac::inference
