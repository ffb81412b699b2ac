// SPDX-License-Identifier: Apache-2.0

/// \file
/// What training loses and what requests get when a service runs on the same cluster.
#pragma once

#include <string>
#include <vector>

#include "experiment/with_services.h"
#include "figure/rows.h"

namespace almanac::report {

/// A row for each policy.
figure::Listing with_service_rows(const std::vector<experiment::WithService>& all);
/// The same as a JSON document, with more figures of each policy.
std::string with_service_json(const std::vector<experiment::WithService>& rows);

}  // namespace almanac::report
