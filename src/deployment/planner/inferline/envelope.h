// SPDX-License-Identifier: Apache-2.0

/// \file
/// InferLine's tuner: more copies where requests come in larger bursts than the plan expected, and
/// fewer after a calm.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "deployment/deployment.h"
#include "deployment/task_run.h"
#include "deployment/tuner.h"

namespace almanac::deployment::planner {

/// Requests that must be in time in a replay, so that p99 is within the objective.
inline constexpr double kInTime = 0.99;

/// Most utilization of a stage for which a sample of 3,000 requests shows the queue that forms in
/// the long run. A queue depends on how it began for about 2 / (1 - utilization)^2 requests, the
/// relaxation time of an M/M/1 queue; here a tenth of the sample.
inline constexpr double kMostUtilization = 0.918;

/// Returns the random requests that a plan is made for: 3,000 of the clients of one pipeline.
std::vector<TaskArrival> sample_of(const std::vector<TaskService>& pipeline, std::uint64_t seed);

/// Tunes `plan`, which was made for the rates of `planned`.
///
/// Source   Crankshaw et al., SoCC'20 (InferLine), section 5. The envelope is the most requests in
///          any window of a length, for windows that double from the time of a request in the
///          pipeline up to 60 s. If a live window has more, the rate is the highest of all windows
///          that have more, and a stage gets rate x scale / (throughput of a copy x planned
///          utilization) copies. After 15 s without a change, it keeps copies for the highest rate
///          over 5 s of the last 30 s.
/// Differs  The planned rate is the highest at which replays of random requests have p99 within the
///          objective. The envelope is that of random requests at this rate: disjoint windows of a
///          length have more once in 100 hours. A sample of 3,000 requests has smaller bursts than
///          a day, and a plan can bear more than its rate. With more or fewer copies than planned,
///          the envelope is for the rate that they bear. No larger a window of 5 s than the plan's
///          keeps more copies than planned. Looks once a second, at windows that end in the last
///          second. Keeps copies that a window above the envelope requires. If GPUs are too few, it
///          adds as many copies as fit.
std::unique_ptr<Tuner> make_envelope_tuner(const PlanningCase& planned, const Deployment& plan);

}  // namespace almanac::deployment::planner
