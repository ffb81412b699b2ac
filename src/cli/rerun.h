// SPDX-License-Identifier: Apache-2.0

/// \file
/// Loads what an earlier run was made of.
#pragma once

#include <string>

#include "base/result.h"
#include "experiment/experiment.h"

namespace almanac::cli {

/// Prepares the run in folder `run` again. Fails with conflict when trace, cluster or a policy file
/// are not what they were.
Result<experiment::Prepared> prepare_again(const std::string& run);

}  // namespace almanac::cli
