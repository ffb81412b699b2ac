// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tables of variants and of what is asked of their tasks.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "deployment/deployment.h"

namespace almanac::deployment {

/// A table with the columns variant, task, accuracy, fixed_ms, item_ms, batch, memory_gib, and as
/// far as they are known operators (1), knee (1), load_s (0), busy_w (0). Fails with not_found,
/// invalid.
Result<std::vector<Variant>> read_variants(const std::string& path);

/// A table with the columns task, rate, slo_ms, and as far as they are known accuracy (0) and
/// rates, those of the last seconds with spaces between. Fails with not_found, invalid, and where a
/// task has none of `variants`.
Result<std::vector<TaskService>> read_services(const std::string& path,
                                               const std::vector<Variant>& variants);

}  // namespace almanac::deployment
