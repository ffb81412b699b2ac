// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much of the prompts in a log repeats earlier prompts.
#pragma once

#include "inference/request.h"

namespace almanac::inference {

/// Returns the fraction of prompt tokens in blocks that an earlier request also started with: the
/// hits of an unlimited prefix cache on one replica. 0 if the log has no blocks. O(blocks).
double repeated_share(const Requests& requests);

}  // namespace almanac::inference
