// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast jobs are on types of GPUs by a job log itself: from jobs of one user and name, on as
/// many GPUs, that ran on several types (predict/type_speeds.h).
#pragma once

#include <string>
#include <vector>

#include "perf/catalogue.h"
#include "trace/trace.h"

namespace almanac::experiment {

/// What stands for it in place of the name of a catalogue.
inline constexpr const char* kLogSpeeds = "log";
/// And for what policies learn as jobs run, with nothing to begin with.
inline constexpr const char* kLearnedSpeeds = "learned";

struct LogSpeeds {
  perf::Catalogue catalogue;  ///< A model for each name of which it is known; types alone.
  std::vector<std::string> notes;
};

/// Names are those of models where jobs tell them. Of a name the mean counts, in logarithms, of its
/// users and numbers of GPUs. Jobs that failed or were cancelled are left out, and those that
/// accept several types, of which the log does not say which one they had. Cost: O(jobs).
LogSpeeds speeds_by_log(const trace::Trace& log);

}  // namespace almanac::experiment
