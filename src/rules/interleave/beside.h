// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much a job slows down that uses only what another one leaves idle.
///
/// Source   Xiao et al., OSDI'20 (AntMan), as the simulator of Zhao et al., SIGCOMM'22 counts it.
#pragma once

#include "rules/interleave/stages.h"

namespace almanac::interleave {

/// Iterations of `host` that one of `guest` takes if it may use only what `host` leaves idle.
int iterations_beside(Stages guest, const Stages& host);

}  // namespace almanac::interleave
