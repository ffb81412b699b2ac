// SPDX-License-Identifier: Apache-2.0

/// \file
/// MArk: which instances to rent for a forecast of demand.
///
/// Source   Zhang et al., ATC'19, section 4.2, and the planner that its released scheduler calls.
#pragma once

#include <vector>

namespace almanac::serving {

struct MarkInstance {
  double capacity = 0;  ///< Requests a minute.
  double price = 0;     ///< A second.
  double launch = 0;    ///< Cost of starting one.
};

struct MarkPlan {
  std::vector<int> target{}, launch{}, destroy{};  ///< By type of instance.
};

/// `current` of each type run; `forecast` is requests a minute, minute by minute. Adds the instance
/// that serves a request at the least cost until the next six minutes are covered.
MarkPlan plan_mark(const std::vector<MarkInstance>& instances, const std::vector<int>& current,
                   const std::vector<double>& forecast);

struct OlderMarkPlan {
  std::vector<int> now{}, soon{};  ///< Instances of each type in the first minute and the third.
};

/// The planner of the first version: adds to what runs, or takes from it, in the first three
/// minutes. The same forecast as for plan_mark(), of three minutes at least.
///
/// Source   the released proactive controller, its faults included: how many minutes a stretch has
///          is taken for the minute in which it ends.
/// Differs  Where no request is left to divide a cost by, the released one ends with an error; here
///          that step is left out.
OlderMarkPlan plan_older_mark(const std::vector<MarkInstance>& instances,
                              const std::vector<int>& current, const std::vector<double>& forecast);

}  // namespace almanac::serving
