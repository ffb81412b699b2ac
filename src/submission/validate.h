// SPDX-License-Identifier: Apache-2.0

/// \file
/// Validates a submission, independent of its user and of where it will run.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/job.h"

namespace almanac::submission {

/// How errors name an attribute: "gpu_memory_gb", as in JSON, or "--gpu-mem", as on the command
/// line. Attributes without an option have the first name only.
enum class Naming : std::uint8_t { field, option };

/// Fails with `invalid`, naming the first attribute that is out of range (store/ask.h) or
/// contradicts another; with `usage` for amounts too small to count. Does not check the limits of a
/// service, or whether the job could ever run there. Cost: reads its texts once.
Result<void> validate(const store::Submission& asked, Naming naming = Naming::field);

}  // namespace almanac::submission
