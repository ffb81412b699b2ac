// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides whether a submission makes sense, whoever made it and wherever it is to run.
#pragma once

#include "base/result.h"
#include "store/job.h"

namespace almanac::submission {

/// Fails with invalid, naming the first attribute that is out of its range (store/ask.h) or
/// contradicts another; with usage for amounts that are too small to be counted. What one service
/// allows and whether the job could ever run there is not looked at. Cost: its texts are read once.
Result<void> validate(const store::Submission& asked);

}  // namespace almanac::submission
