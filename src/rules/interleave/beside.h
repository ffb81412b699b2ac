// SPDX-License-Identifier: Apache-2.0

/// \file
/// The slowdown of a job that uses only what another job leaves idle.
///
/// Source   Xiao et al., OSDI'20 (AntMan), as the simulator of Zhao et al., SIGCOMM'22, counts it.
#pragma once

#include "rules/interleave/stages.h"

namespace almanac::interleave {

/// Returns how many iterations of `host` one iteration of `guest` takes if `guest` may use only
/// what `host` leaves idle.
int iterations_beside(Stages guest, const Stages& host);

}  // namespace almanac::interleave
