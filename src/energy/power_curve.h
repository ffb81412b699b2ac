// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a GPU draws and how fast it works, by how much it is used and by its power limit.
///
/// Two parameters a type of GPU, fitted by power_fit.h. With x the draw above idle that a use asks
/// for and h the headroom that the limit leaves, both as shares of the headroom without a limit:
///
///   draw above idle   y = (x^-bend + h^-bend - 1)^(-1/bend)      y = x where h = 1, y <= h
///   speed             s = 1 - (1 - y/x)^strain                   1 where h = 1
///
/// A limit is not a wall: a job is slowed in its peaks before its mean draw comes near the limit.
/// And the last watts buy little: they go into clock, where draw grows faster than speed.
///
/// Source   the form is ours, chosen on the Zeus profiles (You et al., NSDI'23); it has no more
///          parameters than they support. Without a limit, draw is linear in use between idle and
///          full: the profiles have no axis of utilisation, so that is assumed (as by Fan et al.,
///          ISCA'07, of whole servers).
#pragma once

#include <string>
#include <vector>

namespace almanac::energy {

/// Watts are shares of the board's highest limit, so a curve carries over to a board of the same
/// type with another one. `use` is 0 (idle) to 1 (as much as the hungriest job measured); `limit`
/// above 1 is no limit, and must be above `idle`.
struct PowerCurve {
  double idle = 0;    ///< Draw of a GPU that no process uses.
  double full = 1;    ///< Draw at full use, without a limit; above idle, at most 1.
  double bend = 1;    ///< Above 0. Great: the limit cuts late and sharply.
  double strain = 1;  ///< At least 1. Great: the last watts buy little speed.

  double draw(double use, double limit) const;
  /// Relative to the same job without a limit. An idle GPU keeps its speed.
  double speed(double use, double limit) const;
  /// The use that draws so much without a limit, cut to 0 ... 1.
  double use_of(double unlimited_draw) const;
};

/// How much a network uses a GPU, as the jobs measured of it do on average.
struct NetworkUse {
  std::string network;
  double use = 1;
};

/// The mean of the networks; 1 where there is none.
double mean_use(const std::vector<NetworkUse>& uses);

}  // namespace almanac::energy
