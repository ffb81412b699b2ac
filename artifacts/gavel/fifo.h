// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gavel's FIFO, which does not see speeds, with the fault of its published program.
#pragma once

#include <cstdint>
#include <map>

#include "gavel/mersenne.h"
#include "gavel/rule.h"

namespace almanac::gavel {

/// Jobs keep the type that they once got. Fault: the type drawn for the head of the queue is not
/// the one it gets, which is the last with room; what that takes is counted below zero, and the
/// drawn type is the one that is closed.
class Fifo final : public Rule {
 public:
  explicit Fifo(std::uint32_t seed) : draws_(seed) {}
  Allocation allocate(const State& state) override;
  bool shuffles_types() const override { return true; }
  bool leaves_idle() const override { return true; }

 private:
  Mersenne draws_;
  std::map<int, std::size_t> kept_;  ///< Type of each job by number.
};

}  // namespace almanac::gavel
