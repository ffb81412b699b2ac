// SPDX-License-Identifier: Apache-2.0

/// \file
/// What to do now: how many nodes to keep on, how many may sleep, and when to wake some again.
#pragma once

#include <vector>

#include "energy/standby.h"

namespace almanac::energy {

struct AdviceOptions {
  StandbyPrices prices{};
  double level = 0.95;  ///< How sure it shall be that nodes suffice, in (0, 1).
  double boot_s = 300;
};

/// The time until `until`, starting at the end of the previous one.
struct Ahead {
  Time until{};
  double median = 0;  ///< Median of the peak demand from now until then.
  int enough = 0;     ///< Nodes that suffice until then, with the requested confidence.
  int wake = 0;       ///< Nodes to wake, beyond those on earlier.
  Time wake_at{};     ///< When to start, so that they are up in time; never before now.
};

struct Advice {
  Time now{};  ///< The end of the series.
  int used = 0;
  int total = 0;
  int on = 0;                  ///< To have on in the next step.
  std::vector<Ahead> ahead{};  ///< 1, 2, 3, 6 and 12 hours from now.
};

/// Returns advice from all of `demand`, which must have at least one step.
Advice advise(const Demand& demand, const AdviceOptions& options);

}  // namespace almanac::energy
