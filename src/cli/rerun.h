// SPDX-License-Identifier: Apache-2.0

/// \file
/// Loads the inputs of an earlier run.
#pragma once

#include <string>

#include "base/result.h"
#include "experiment/experiment.h"

namespace almanac::cli {

/// Prepares the run in folder `run` again. Fails with conflict if the trace, the cluster or a
/// policy file has changed.
Result<experiment::Prepared> prepare_again(const std::string& run);

}  // namespace almanac::cli
