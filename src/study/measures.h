// SPDX-License-Identifier: Apache-2.0

/// \file
/// The measures by which two job logs are compared, each with its interval by chance.
#pragma once

#include <string>
#include <vector>

#include "figure/figure.h"
#include "study/study.h"

namespace almanac::study {

/// A figure of one log.
struct Measure {
  std::string name{};   ///< "median_duration_s"
  std::string label{};  ///< "Median duration"
  figure::Unit unit{};
  double value = 0;             ///< NaN if the log lacks it.
  std::vector<double> draws{};  ///< Values of other samples of days (or users).
};

/// Draws of the bootstrap behind each measure.
inline constexpr std::size_t kDraws = 1000;
/// A log with fewer days has no draws, because change cannot be distinguished from chance.
inline constexpr std::size_t kFewestDays = 5;

/// The measures of a log, always the same ones in the same order. Whole days are drawn with
/// replacement, for jobs of one day are alike; for the share of the largest users, users are.
///
/// Deterministic. O(jobs + draws x days). Medians of draws are exact to 2 %.
std::vector<Measure> measures_of(const Study& study);

}  // namespace almanac::study
