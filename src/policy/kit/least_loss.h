// SPDX-License-Identifier: Apache-2.0

/// \file
/// The order in which running jobs stop if their ranks do not say it: for a kept job of a service,
/// for a deadline that can be met, and for a tenant that takes back what others borrow. Passes that
/// run jobs by rank stop the worst rank first: a job of a better rank that stopped would only stop
/// the other one in turn.
///
/// The lowest priority tier stops first; in a tier the job that would lose the least GPU time
/// (RestartCost::of_failure() times its GPUs: the work since its last checkpoint, and a restart);
/// among equals the one that started last.
#pragma once

#include <vector>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// Returns the GPU-seconds of work that a running job repeats if it stops now, without the restart.
/// 0 for a job without a known checkpoint interval, which writes a checkpoint first (RestartCost).
double work_lost_gpu_s(JobId job, const View& view);

/// Sorts running `jobs`, the first to stop first. O(n log n).
void sort_by_loss(std::vector<JobId>& jobs, const View& view);

}  // namespace almanac::policy
