// SPDX-License-Identifier: Apache-2.0

/// \file
/// How often the forecasts for some jobs of a run came true, for each kind of question.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/experiment.h"
#include "experiment/summary.h"
#include "forecast/score.h"

namespace almanac::forecast {

struct Judgement {
  /// The score of some jobs.
  struct Part {
    std::string of;
    Score score;
  };
  std::string policy;
  std::size_t jobs = 0;
  int waited = 0;  ///< Jobs.
  std::vector<Part> parts;
  experiment::Summary fairness{};  ///< The usage of owners against their fair share; the other
                                   ///< fields are not set.
};

/// Forecasts `count` random jobs of run number `run` (Options::seed), and compares with their
/// outcomes. Fails as `tell()` does.
Result<Judgement> judge(const experiment::Prepared& prepared, std::size_t run, int count,
                        const Options& options);

}  // namespace almanac::forecast
