// SPDX-License-Identifier: Apache-2.0

/// \file
/// How jobs slow each other that share a GPU by MPS or by turns, where nothing is known of them.
#pragma once

#include <cstddef>

namespace almanac::perf {

/// How many times as long a job takes beside another, each with a part of a GPU under MPS, as alone
/// with that part.
///
/// Source   measured pairs of four networks in inference on a V100 (Xu et al., 2022, iGniter):
///          median 1.091, 1.013 to 1.234. That these slow each other alike whatever their parts is
///          what remains of gpulet's form (Choi et al., ATC'22), refitted, where the use of caches
///          and memory is not told; that more than one add up is assumed.
inline constexpr double kMpsSlowdown = 1.091;

/// Speed of a job beside `others` under MPS.
inline double mps_speed(std::size_t others) {
  return 1 / (1 + (kMpsSlowdown - 1) * static_cast<double>(others));
}

/// The same where they take turns. What a switch costs, a few per cent, is left out.
inline double turn_speed(std::size_t others) { return 1 / (1 + static_cast<double>(others)); }

}  // namespace almanac::perf
