// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `preemption`: running jobs that the policy stops make room, requeued or suspended.
///
/// Only jobs that Slurm may requeue, and each only once in a while: not before it has run for as
/// long, unless the policy moves jobs by what they lose (Chosen::only_moves). Slurm keeps the GPUs
/// of a suspended job for it, so only jobs without GPUs are suspended; they resume when the job
/// that came in their place has gone.
#pragma once

#include <memory>

#include "steer/lever.h"

namespace almanac::steer {

std::unique_ptr<Lever> make_preemption_lever();

}  // namespace almanac::steer
