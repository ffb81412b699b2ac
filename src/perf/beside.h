// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a model keeps of its speed beside others on the same GPUs.
///
/// Where the stages of all are known they take turns, each in another stage of its step
/// (rules/interleave/stages.h): all do a step in a period. Else, and beyond four, they slow each
/// other as pairs do (perf/sharing.h).
///
/// One that yields runs in what the others leave, and these are as fast as without it. By stages:
/// it does a part of a step in each step of theirs, where the resource is idle. Else what all do
/// together beyond what the others do alone is its: two that each run at 0.6 leave it 0.2. No less
/// than 0.01, for kernels have gaps.
///
/// Source   turns: Zhao et al., SIGCOMM'22 (Muri), section 4. Yielding: Xiao et al., OSDI'20
///          (AntMan), by stages as Muri's simulator has it; by pairs it is ours, and not measured.
#pragma once

#include <span>

#include "perf/speed_model.h"

namespace almanac::perf {

/// The part of its speed alone, in (0, 1]; `beside` is not empty. Cost: by stages of n jobs 24
/// orders of turns, else n steps.
double part_kept(const SpeedModel& model, std::span<const SpeedModel* const> beside, GpuType type);
/// The same of a model that yields to all of them.
double part_left(const SpeedModel& model, std::span<const SpeedModel* const> beside, GpuType type);

}  // namespace almanac::perf
