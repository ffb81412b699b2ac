// SPDX-License-Identifier: Apache-2.0

/// \file
/// The answers of network variants on items that all of them were tried on.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "deployment/chooser.h"
#include "deployment/deployment.h"

namespace almanac::deployment {

/// The items of one task.
struct TriedTask {
  std::vector<int> right{};  ///< Label of each item.
  /// By variant of all variants, then item; empty for variants of other tasks.
  std::vector<std::vector<Label>> said{};
};

/// Reads a table with a row for each variant of a task and item: task, item, variant, label, right
/// and, if known, confidence (0 to 1; default 1). Grouped by service. Fails with `not_found`, and
/// with `invalid` if a variant, a service or a right label contradicts others, or an item lacks a
/// variant.
Result<std::vector<TriedTask>> read_answers(const std::string& path,
                                            const std::vector<TaskService>& services,
                                            const std::vector<Variant>& variants);

}  // namespace almanac::deployment
