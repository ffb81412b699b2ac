// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cost to training jobs, and the latency of requests, if a service runs on the same cluster.
#pragma once

#include <string>
#include <vector>

#include "experiment/with_services.h"
#include "figure/rows.h"

namespace almanac::report {

/// Returns one row per policy.
figure::Listing with_service_rows(const std::vector<experiment::WithService>& all);
/// Returns the same as a JSON document, with more values per policy.
std::string with_service_json(const std::vector<experiment::WithService>& rows);

}  // namespace almanac::report
