// SPDX-License-Identifier: Apache-2.0

/// \file
/// The run times of the jobs most similar to one job. They place its end exactly once the model has
/// predicted its magnitude.
#pragma once

#include <array>
#include <cstdint>

#include "predict/distribution.h"
#include "predict/memory.h"

namespace almanac::predict {

/// A few run times with weights; small, because one is kept for every job to learn from.
struct Nearby {
  static constexpr std::size_t kMost = 30;
  std::array<float, kMost> logs{};
  std::array<float, kMost> weights{};
  std::uint32_t count = 0;

  /// Returns them as a distribution, spread by `width` cells on either side; all zero without any.
  Distribution spread(int width) const;
};

/// Returns the last ten jobs of each of the three most similar kinds with ended jobs. A more
/// similar kind weighs more, and so does a later job.
Nearby nearby(Memory& memory, const trace::Request& request);

}  // namespace almanac::predict
