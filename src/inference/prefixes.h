// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much of the prompts of a log repeats earlier prompts.
#pragma once

#include "inference/request.h"

namespace almanac::inference {

/// Returns the share of prompt tokens whose block an earlier request had at its head too: what a
/// prefix cache without limit would find on one replica. 0 where the log names no blocks.
/// O(blocks).
double repeated_share(const Requests& requests);

}  // namespace almanac::inference
