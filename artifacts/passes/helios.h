// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs a policy as the simulator published with Helios does.
#pragma once

#include "experiment/profile.h"

namespace almanac::passes {

/// Makes `run` behave like the artifact of Hu et al., SC'21 (framework/QSSF Service): SRTF chooses
/// by counting GPUs and holds every GPU one second longer; QSSF ranks jobs that find an empty queue
/// one second late; a restart costs 7, 30 or 60 s. FIFO and SJF need nothing.
void as_helios(experiment::PolicyRun& run);

}  // namespace almanac::passes
