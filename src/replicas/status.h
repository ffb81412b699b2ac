// SPDX-License-Identifier: Apache-2.0

/// \file
/// The state of a replica service as JSON.
#pragma once

#include <string>

#include "replicas/keeper.h"
#include "replicas/pool.h"
#include "replicas/tally.h"

namespace almanac::replicas {

/// Requests by fate, latency quantiles, and the state of each replica. Thread-safe.
std::string status_json(const std::string& service, const Pool& pool, const Tally& tally,
                        const Keeper& keeper);

}  // namespace almanac::replicas
