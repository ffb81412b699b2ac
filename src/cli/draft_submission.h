// SPDX-License-Identifier: Apache-2.0

/// \file
/// A submission from what a user's command line says.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/job.h"

namespace almanac::cli {

/// The user's environment and folder, and nothing to run.
Result<store::Submission> base_submission();

/// `base` with what `asked` says: "--gpus=2" and the like, of submission::own_options(). Fails with
/// usage.
Result<store::Submission> with_asked(store::Submission base, const std::vector<std::string>& asked);

}  // namespace almanac::cli
