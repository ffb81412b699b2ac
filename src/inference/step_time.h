// SPDX-License-Identifier: Apache-2.0

/// \file
/// The time of one iteration of a model: the only thing that a serving simulation needs to know
/// about a model and its board.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/request.h"

namespace almanac::inference {

/// The part of a prompt that one iteration computes.
struct Chunk {
  std::int32_t done = 0;    ///< Tokens of the sequence in the KV cache.
  std::int32_t fresh = 0;   ///< Tokens computed in this iteration.
  std::int32_t prompt = 0;  ///< Tokens of the whole prompt.
};

/// The work of one iteration. Decodes are sums, because models here distinguish the sequences of a
/// batch only by their context.
struct Batch {
  std::vector<Chunk> prefills{};
  std::int64_t decodes = 0;  ///< Sequences that get one token each.
  std::int64_t context = 0;  ///< Sum of their tokens in the KV cache.

  void clear() {
    prefills.clear();
    decodes = 0;
    context = 0;
  }
  std::int64_t prefill_tokens() const {
    std::int64_t sum = 0;
    for (const Chunk& chunk : prefills) sum += chunk.fresh;
    return sum;
  }
};

class StepTime {
 public:
  virtual ~StepTime() = default;
  /// Returns the duration of an iteration with `batch`, above 0. O(prefills).
  virtual Micros operator()(const Batch& batch) const = 0;
};

}  // namespace almanac::inference
