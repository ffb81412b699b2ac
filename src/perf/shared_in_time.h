// SPDX-License-Identifier: Apache-2.0

/// \file
/// How jobs that share a GPU by MPS or by time slicing slow each other, if nothing is known about
/// them.
#pragma once

#include <cstddef>

namespace almanac::perf {

/// Slowdown of a job next to another one, each with a part of a GPU under MPS, relative to running
/// alone on that part.
///
/// Source   measured pairs of four networks in inference on a V100 (Xu et al., 2022, iGniter):
///          median 1.091, range 1.013 to 1.234. The slowdown does not depend on the parts: this is
///          gpulet's form (Choi et al., ATC'22), refitted without the unknown use of caches and
///          memory. Several neighbors are assumed to add up.
inline constexpr double kMpsSlowdown = 1.091;

/// Returns the speed of a job next to `others` jobs under MPS.
inline double mps_speed(std::size_t others) {
  return 1 / (1 + (kMpsSlowdown - 1) * static_cast<double>(others));
}

/// Returns the speed with time slicing. Ignores the cost of switches, a few per cent.
inline double turn_speed(std::size_t others) { return 1 / (1 + static_cast<double>(others)); }

}  // namespace almanac::perf
