// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fraction of its speed that a model keeps next to others on the same GPUs.
///
/// If the stages of all models are known, they take turns, each in another stage of its step
/// (rules/interleave/stages.h), and all complete one step per period. The same if the phases of all
/// are known: each group of GPUs works for one job after another (rules/interleave/phases.h).
/// Otherwise, and for more than four with stages, they slow each other as pairs do
/// (perf/sharing.h).
///
/// A job that yields runs in what the others leave, and does not slow them. With stages, it does
/// part of a step in each of their steps, on resources that are idle. Otherwise it gets the total
/// speed of all minus that of the others alone: two jobs that each run at 0.6 next to each other
/// leave it 0.2. It gets at least 0.01, because kernels have gaps.
///
/// Source   turns: Zhao et al., SIGCOMM'22 (Muri), section 4. Yielding: Xiao et al., OSDI'20
///          (AntMan); by stages as in Muri's simulator; by pairs it is ours, and not measured.
#pragma once

#include <span>

#include "perf/speed_model.h"

namespace almanac::perf {

/// Returns the fraction of its speed alone, in (0, 1]; `beside` must not be empty. Cost: for stages
/// of n jobs, 24 orders of turns, otherwise n steps; with phases, one allocation.
double part_kept(const SpeedModel& model, std::span<const SpeedModel* const> beside, GpuType type);
/// Same for a model that yields to all of them.
double part_left(const SpeedModel& model, std::span<const SpeedModel* const> beside, GpuType type);

}  // namespace almanac::perf
