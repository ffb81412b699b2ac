// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses the replica for a request: the slot `router`.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "inference/replica.h"

namespace almanac::inference {

class Router {
 public:
  virtual ~Router() = default;
  /// Returns the position in `replicas`, which is not empty, of the one to take `request`.
  virtual std::size_t choose(RequestId request, std::span<Replica* const> replicas) = 0;

  /// A running request that must continue on another replica.
  struct Move {
    RequestId request;
    std::size_t from, to;  ///< Positions.
  };
  /// How often moves() is called; kNever for never.
  virtual Micros period() const { return kNever; }
  virtual std::vector<Move> moves(std::span<Replica* const>) { return {}; }
};

/// Returns the first position with the smallest `load(replica)`.
template <typename Load>
std::size_t least(std::span<Replica* const> replicas, const Load& load) {
  std::size_t best = 0;
  auto lowest = load(*replicas[0]);
  for (std::size_t each = 1; each < replicas.size(); ++each) {
    if (const auto value = load(*replicas[each]); value < lowest) {
      best = each;
      lowest = value;
    }
  }
  return best;
}

}  // namespace almanac::inference
