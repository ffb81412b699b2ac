// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much of their time limits jobs use: the limit of a job as evidence of its run time.
///
/// Users choose limits with care, from habit or not at all (the default of a queue). The ratio of
/// run time to limit of earlier jobs shows which: it varies little in the first case and widely in
/// the last. The ratios of all jobs, of those with about this limit, of the user and of the user
/// with this limit are nested.
///
/// Source   Tsafrir, Etsion & Feitelson, TPDS 2007: limits are a few round numbers, and a user
///          overestimates alike from job to job.
#pragma once

#include <array>
#include <cstdint>

#include "predict/nested_counts.h"
#include "predict/run_time.h"
#include "trace/job.h"

namespace almanac::predict {

class LimitUse {
 public:
  /// Run time of a job that has a limit; no mass lies above it.
  Distribution run_time(const trace::Request& request) const;
  /// Learns from a job that has a limit.
  void learn(const trace::Request& request, Duration ran);

 private:
  NestedCounts cells_below_limit_;
};

}  // namespace almanac::predict
