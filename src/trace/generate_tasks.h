// SPDX-License-Identifier: Apache-2.0

/// \file
/// Generates a log of tasks with batch size, steps and deadline: the load of GENIE's evaluation.
/// generate() uses it if a workload has rows of `task`.
///
/// Arrivals are Poisson (given their number), stretched by the rhythm. Model and kind, batch size
/// (powers of two), steps, user and class are drawn independently. A task requests one GPU and may
/// run on as many as its batch has samples, up to `work.most_gpus`; its run time is that on one
/// GPU.
///
/// Source   GENIE (Chen et al., TPDS'20) 7.1, Table 3; docs/guide/generator.md lists what the paper
///          leaves open.
#pragma once

#include <cstdint>

#include "trace/trace.h"
#include "trace/workload.h"

namespace almanac::trace {

/// Requires: check(workload) finds nothing, and it has tasks.
Trace generate_tasks(const Workload& workload, std::uint64_t seed);

/// The mean run time of its tasks on one GPU, in seconds.
double mean_task_run(const Workload& workload);

}  // namespace almanac::trace
