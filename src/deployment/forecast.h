// SPDX-License-Identifier: Apache-2.0

/// \file
/// The rate for which a planner plans next, from the requests that have arrived.
#pragma once

#include <span>

namespace almanac::deployment {

/// The requests of one service up to a step of the planner.
struct PastRequests {
  std::span<const double> arrivals_ms{};  ///< Sorted, none after `now_ms`.
  double now_ms = 0;                      ///< A multiple of `step_ms`, at least one.
  double step_ms = 60'000;                ///< From one plan to the next.
};

/// Requests a second until the next step.
using Forecast = double (*)(const PastRequests& past);

/// Returns the rate of the last step.
double last_rate(const PastRequests& past);

/// Returns the highest rate of the last 20 steps, so that capacity goes only after 20 low readings.
///
/// Source   the released autoscaler of INFaaS (Romero et al., ATC'21), its counter for GPUs.
double highest_of_twenty(const PastRequests& past);

/// Returns the next value of the line through the rates of the last five steps; at least the last.
///
/// Source   stands for the trained forecasters of MArk and Cocktail.
double line_of_five(const PastRequests& past);

/// Returns 1.2 times line_of_five().
///
/// Source   Zhang et al., ATC'19 (MArk), section 4.
double line_with_headroom(const PastRequests& past);

/// Returns the highest rate over windows that end now, of 5 s and doubling up to 60 s.
///
/// Source   Crankshaw et al., SoCC'20 (InferLine), section 5: the traffic envelope.
double envelope(const PastRequests& past);

}  // namespace almanac::deployment
