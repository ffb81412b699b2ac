// SPDX-License-Identifier: Apache-2.0

/// \file
/// What would start a waiting job now.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"

namespace almanac::service {

struct StartsIf {
  Time at{};                ///< The present to which the answer refers.
  bool starts_now = false;  ///< The policy starts it when it decides again.
  /// Each starts the job: one change, or two together, in words such as "if job 12 ended (8 GPUs)".
  /// Empty if no one or two changes do.
  std::vector<std::vector<std::string>> changes{};

  bool operator==(const StartsIf&) const = default;
};

}  // namespace almanac::service
