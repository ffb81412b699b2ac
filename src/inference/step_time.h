// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long one iteration of a model takes: the one question that a simulation of serving asks of
/// a model and its board.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/request.h"

namespace almanac::inference {

/// The part of a prompt that one iteration computes.
struct Chunk {
  std::int32_t done = 0;    ///< Tokens of the sequence with their KV at hand.
  std::int32_t fresh = 0;   ///< Tokens computed now.
  std::int32_t prompt = 0;  ///< Of the whole prompt.
};

/// What one iteration computes. Decodes are sums, since no model here tells one sequence of a batch
/// from another but by its context.
struct Batch {
  std::vector<Chunk> prefills{};
  std::int64_t decodes = 0;  ///< Sequences that get one token each.
  std::int64_t context = 0;  ///< Sum of their tokens with KV at hand.

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
  /// How long an iteration with `batch` lasts, above 0. O(prefills).
  virtual Micros operator()(const Batch& batch) const = 0;
};

}  // namespace almanac::inference
