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

/// Used in place of a catalogue's name.
inline constexpr const char* kLogSpeeds = "log";
/// For what policies learn as jobs run, starting without knowledge.
inline constexpr const char* kLearnedSpeeds = "learned";

struct LogSpeeds {
  perf::Catalogue catalogue;  ///< A model for each name with known speeds; GPU types only.
  std::vector<std::string> notes;
};

/// Names are those of models if jobs give them. For each name, the mean over users and numbers of
/// GPUs counts, in logarithms. Leaves out failed and cancelled jobs, and jobs that accept several
/// types, because the log does not say which one they had. Cost: O(jobs).
LogSpeeds speeds_by_log(const trace::Trace& log);

}  // namespace almanac::experiment
