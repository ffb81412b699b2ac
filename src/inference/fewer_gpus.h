// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether a replica is slower because it has more GPUs.
#pragma once

#include <string>
#include <vector>

#include "inference/service.h"

namespace almanac::inference {

/// Returns what takes longer with `service`'s GPUs per stage than with fewer, a clause each: a
/// prompt, or a decode step. Sums across GPUs can take longer than divided matrices save. Empty for
/// step times that describe one number of GPUs.
std::vector<std::string> slower_than_fewer_gpus(const Service& service);

}  // namespace almanac::inference
