// SPDX-License-Identifier: Apache-2.0

/// \file
/// AntMan as Muri's simulator has it: guaranteed jobs with GPUs of their own, and opportunistic
/// ones that run beside them in the stages in which these leave a resource idle.
///
/// Source   Xiao et al., OSDI'20 (AntMan); the simulator of Zhao et al., SIGCOMM'22.
#pragma once

#include <memory>

#include "interleave/engine.h"

namespace almanac::interleave {

std::unique_ptr<Scheduler> make_antman(const Machines& machines);

/// How many iterations of `host` one of `guest` takes when it may use only what `host` leaves idle.
int iterations_beside(Stages guest, const Stages& host);

}  // namespace almanac::interleave
