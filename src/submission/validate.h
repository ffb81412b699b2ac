// SPDX-License-Identifier: Apache-2.0

/// \file
/// Validates a submission, independent of its user and of where it will run.
#pragma once

#include "base/result.h"
#include "store/job.h"

namespace almanac::submission {

/// Fails with `invalid`, naming the first attribute that is out of range (store/ask.h) or
/// contradicts another; with `usage` for amounts too small to count. Does not check the limits of a
/// service, or whether the job could ever run there. Cost: reads its texts once.
Result<void> validate(const store::Submission& asked);

}  // namespace almanac::submission
