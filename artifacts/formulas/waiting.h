// SPDX-License-Identifier: Apache-2.0

/// \file
/// When a job that can wait should run, decided once as it arrives, with the series known ahead.
///
/// Source   Hanafy et al., Going Green for Less Green (GAIA), ASPLOS'24, section 4; artifact.
///          Wait Awhile: Wiesner et al., Middleware'21. The threshold is Ecovisor's (ASPLOS'23).
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "formulas/intensity.h"

namespace almanac::carbon {

/// What a job waits for, within its waiting time.
enum class WaitFor : unsigned char {
  nothing,            ///< It starts as it arrives.
  the_end,            ///< It starts when its waiting time is over.
  lowest_slot,        ///< The lowest intensity at its start.
  lowest_window,      ///< The lowest sum over as long as such jobs usually run; by the hour.
  most_saved_a_time,  ///< The most carbon saved for each step until it ends (Carbon-Time).
  lowest_steps,       ///< It runs in the lowest steps of its length and waiting time, in pieces.
  below_threshold,    ///< It runs while the intensity is below the 30th percentile of a day.
};

/// A job as GAIA sees it, in steps.
struct Task {
  Step arrival = 0;
  Step length = 0;
  Step usual = 0;    ///< How long it is believed to run; its length for an oracle.
  Step waiting = 0;  ///< For how long it may wait.
};

struct Piece {
  Step start = 0;
  Step length = 0;

  bool operator==(const Piece&) const = default;
};

/// When `task` runs; in one piece but for the last two ways. Candidates whose window would leave
/// the series are passed over. O(length + waiting) for the last two, else O(waiting / hour).
std::vector<Piece> plan(const Intensity& intensity, WaitFor what, const Task& task);

}  // namespace almanac::carbon
