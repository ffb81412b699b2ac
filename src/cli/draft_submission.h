// SPDX-License-Identifier: Apache-2.0

/// \file
/// Builds a submission from a command line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/job.h"

namespace almanac::cli {

/// Returns a submission with the user's environment and folder and no command.
Result<store::Submission> base_submission();

/// Returns `base` with the options in `asked` applied, such as "--gpus=2" (those of
/// submission::own_options()). Fails with usage.
Result<store::Submission> with_asked(store::Submission base, const std::vector<std::string>& asked);

/// Fails with usage, naming options, if the service would refuse `asked` wherever it ran.
Result<void> check_submission(const store::Submission& asked);

}  // namespace almanac::cli
