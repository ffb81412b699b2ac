// SPDX-License-Identifier: Apache-2.0

/// \file
/// The power and speed of a GPU, by its use and its power limit.
///
/// Two parameters per GPU type, fitted by power_fit.h. With x the power above idle that a use
/// needs, and h the headroom under the limit, both as fractions of the headroom without a limit:
///
///   power above idle  y = (x^-bend + h^-bend - 1)^(-1/bend)      y = x where h = 1, y <= h
///   speed             s = 1 - (1 - y/x)^strain                   1 where h = 1
///
/// A limit slows a job in its peaks before its mean power comes near the limit. The last watts gain
/// little, because they raise the clock, where power grows faster than speed.
///
/// Source   the form is ours, chosen on the Zeus profiles (You et al., NSDI'23), with no more
///          parameters than they support. Without a limit, power is assumed to be linear in use
///          between idle and full, because the profiles have no axis of utilization (as by Fan et
///          al., ISCA'07, for whole servers).
#pragma once

#include <string>
#include <vector>

namespace almanac::energy {

/// Watts are fractions of the board's highest limit, so a curve applies to a board of the same type
/// with another limit. `use` is 0 (idle) to 1 (the most power-hungry job measured). A `limit` above
/// 1 is no limit; it must be above `idle`.
struct PowerCurve {
  double idle = 0;    ///< Draw of a GPU that no process uses.
  double full = 1;    ///< Draw at full use, without a limit; above idle, at most 1.
  double bend = 1;    ///< Above 0. Great: the limit cuts late and sharply.
  double strain = 1;  ///< At least 1. Great: the last watts buy little speed.

  double draw(double use, double limit) const;
  /// Relative to the same job without a limit. An idle GPU keeps its speed.
  double speed(double use, double limit) const;
  /// Returns the utilization at which the GPU draws this power without a limit, cut to 0 ... 1.
  double use_of(double unlimited_draw) const;
};

/// How much a network uses a GPU, as the jobs measured of it do on average.
struct NetworkUse {
  std::string network;
  double use = 1;
};

/// Returns the mean of the networks; 1 if there are none.
double mean_use(const std::vector<NetworkUse>& uses);

}  // namespace almanac::energy
