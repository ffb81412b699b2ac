// SPDX-License-Identifier: Apache-2.0

/// \file
/// The option --gpus of the commands that run jobs on a machine.
#pragma once

#include "base/result.h"
#include "machine/machine.h"

namespace almanac::cli {

/// Limits the machine to its first `gpus` GPUs; without a driver, simulates as many. Fails with
/// `usage`.
Result<void> set_gpus(machine::Machine& machine, int gpus);

}  // namespace almanac::cli
