// SPDX-License-Identifier: Apache-2.0

/// \file
/// The run times of the jobs most like one job: where exactly it may end, when the model has said
/// about when.
#pragma once

#include <array>
#include <cstdint>

#include "predict/distribution.h"
#include "predict/memory.h"

namespace almanac::predict {

/// A handful of run times with weights; small, because one is kept for every job to learn from.
struct Nearby {
  static constexpr std::size_t kMost = 30;
  std::array<float, kMost> logs{};
  std::array<float, kMost> weights{};
  std::uint32_t count = 0;

  /// As a distribution; `width` cells of spread on either side. All zero where nothing is near.
  Distribution spread(int width) const;
};

/// The last ten of each of the three closest kinds of which some ended; a closer kind weighs more,
/// and so does a later job.
Nearby nearby(Memory& memory, const trace::Request& request);

}  // namespace almanac::predict
