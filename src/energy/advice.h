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

/// The time until `until`, which begins where the one before it ends.
struct Ahead {
  Time until{};
  double median = 0;  ///< Of the greatest demand from now on until then.
  int enough = 0;     ///< Nodes that suffice until then, as surely as was asked for.
  int wake = 0;       ///< Beyond those that are to be on before.
  Time wake_at{};     ///< So that they are up when this time begins; never before now.
};

struct Advice {
  Time now{};  ///< The end of the series.
  int used = 0;
  int total = 0;
  int on = 0;                  ///< To have on in the next step.
  std::vector<Ahead> ahead{};  ///< 1, 2, 3, 6 and 12 hours from now.
};

/// Advice from all of `demand`, of which there must be a step.
Advice advise(const Demand& demand, const AdviceOptions& options);

}  // namespace almanac::energy
