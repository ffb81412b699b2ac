// SPDX-License-Identifier: Apache-2.0

/// \file
/// FailureReport as part of summary.json.
#pragma once

#include <nlohmann/json.hpp>

#include "experiment/failure_report.h"

namespace almanac::experiment {

nlohmann::ordered_json failures_json(const FailureReport& report);

/// Throws nlohmann::json::exception if a member is missing.
FailureReport parse_failures(const nlohmann::ordered_json& object);

}  // namespace almanac::experiment
