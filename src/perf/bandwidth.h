// SPDX-License-Identifier: Apache-2.0

/// \file
/// How jobs that share a node's memory bandwidth slow each other: once they need more than a node
/// can sustain, all are slowed by the same factor.
///
///   speed = min(1, 0.75 * peak / total demand at the speed that cores and GPUs allow)
///
/// Source   CODA (Zhao et al., ICDCS'20); the form and the 0.75 are a reconstruction, because only
///          the abstract is available and nothing public measures it.
#pragma once

#include <algorithm>

namespace almanac::perf {

/// The part of its peak bandwidth that a node gives for long.
inline constexpr double kSustainedBandwidth = 0.75;

/// Returns the speed of each job that uses bandwidth.
inline double bandwidth_speed(double peak_gbs, double asked_gbs) {
  const double sustained = kSustainedBandwidth * peak_gbs;
  return asked_gbs <= sustained ? 1 : sustained / asked_gbs;
}

}  // namespace almanac::perf
