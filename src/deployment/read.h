// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tables of variants and of the services that use them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "deployment/deployment.h"

namespace almanac::deployment {

/// Reads a table with the columns variant, task, accuracy, fixed_ms, item_ms, batch, memory_gib
/// and, if known, operators (1), knee (1), load_s (0), disk_s (0), busy_w (0). Fails with
/// `not_found`, `invalid`.
Result<std::vector<Variant>> read_variants(const std::string& path);

/// Reads a table with the columns task, rate, slo_ms and, if known, accuracy (0) and rates, those
/// of the last seconds separated by spaces. A stage of a pipeline has the task of an earlier row in
/// column after, and in per_answer (1, at most 100) how many requests each answer of that task
/// makes on average; its rate and objective follow from the first row. Fails with `not_found`,
/// `invalid`, and if a task has none of `variants`.
Result<std::vector<TaskService>> read_services(const std::string& path,
                                               const std::vector<Variant>& variants);

}  // namespace almanac::deployment
