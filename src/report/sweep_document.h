// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report of a sweep: averages and tails of each policy against the load, with the range over
/// seeds.
#pragma once

#include <string>
#include <vector>

#include "experiment/sweep.h"
#include "figure/document.h"

namespace almanac::report {

/// A quantity over the seeds of one load and policy, without missing values.
struct Spread {
  double mean = 0;  ///< NaN without values, as are low and high.
  /// 95 % interval of the mean (Student's t) from 3 values on, else the smallest and the largest.
  double low = 0;
  double high = 0;
};

Spread spread_of(const std::vector<double>& values);

/// Returns the report. `points` come from experiment::sweep(). `command` is the command line;
/// options about threads are left out.
figure::Document sweep_document(const std::string& trace,
                                const std::vector<experiment::SweepPoint>& points,
                                const std::vector<std::string>& command);

}  // namespace almanac::report
