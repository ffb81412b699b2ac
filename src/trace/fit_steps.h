// SPDX-License-Identifier: Apache-2.0

/// \file
/// The steps of fit(), in order: each fills its part of the workload.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"
#include "trace/workload.h"

namespace almanac::trace {

/// Input of the fitting steps: the GPU jobs of a log, in order of submission.
struct FitInput {
  const Trace& trace;
  std::vector<const Job*> jobs;
  std::vector<std::uint32_t> size;  ///< By job: position in Workload::size.
  std::vector<std::string>& notes;
  std::int64_t with_user = 0;  ///< Jobs whose user is known.
};

/// How a job ended, in the terms of a workload.
enum class Ending : std::uint8_t { completed, cancelled, failed };
Ending ending_of(JobState state);

/// The run time as the generator counts it: whole seconds, at least one.
double whole_run(const Job& job);

/// A spread that a few extreme values do not touch: that of the normal distribution with the same
/// quartiles.
double quartile_spread(std::vector<double> values);

void fit_span(FitInput& input, Workload& workload);
void fit_sizes(FitInput& input, Workload& workload);
void fit_vcs(FitInput& input, Workload& workload);
void fit_rhythm(const FitInput& input, Workload& workload);
/// Users, sessions and recipes of a log that does not say who submitted what.
void invent_users(FitInput& input, Workload& workload);
void fit_sessions(const FitInput& input, Workload& workload);
void fit_recipes(const FitInput& input, Workload& workload);
void fit_limits(const FitInput& input, Workload& workload);
/// Generates and compares, until the users share out jobs and GPU time as those of the log do.
void fit_users(const FitInput& input, Workload& workload);

}  // namespace almanac::trace
