// SPDX-License-Identifier: Apache-2.0

/// \file
/// The total number of GPUs that a job requests.
#pragma once

#include "store/job.h"

namespace almanac::store {

/// A part counts as a part, an instance as the part of a GPU that it is (cluster/slices/part.h).
double gpus_of(const Submission& asked);

}  // namespace almanac::store
