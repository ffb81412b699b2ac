// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report of a sweep: each policy's averages and tails against the load, with the range over
/// the seeds.
#pragma once

#include <string>
#include <vector>

#include "experiment/sweep.h"
#include "figure/document.h"

namespace almanac::report {

/// A quantity over the seeds of one load and policy, of those that have a value.
struct Spread {
  double mean = 0;  ///< NaN of no value, as low and high.
  /// From 3 values on the 95 % interval of the mean (Student's t), else the least and the greatest.
  double low = 0;
  double high = 0;
};

Spread spread_of(const std::vector<double>& values);

/// `points` as experiment::sweep() gives them; `command` is the command line, of which what it says
/// of threads is left out.
figure::Document sweep_document(const std::string& trace,
                                const std::vector<experiment::SweepPoint>& points,
                                const std::vector<std::string>& command);

}  // namespace almanac::report
