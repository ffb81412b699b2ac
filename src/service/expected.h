// SPDX-License-Identifier: Apache-2.0

/// \file
/// When a job that waits is expected to start and end, one that runs to end.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"

namespace almanac::service {

/// What would be if a job asked another number of GPUs.
struct WithGpus {
  int gpus = 0;
  Time end_by = kNoTime;  ///< With nine in ten.
  std::optional<double> kept{};

  bool operator==(const WithGpus&) const = default;
};

/// Each with nine in ten.
struct Expected {
  Time at{};  ///< When this was worked out.
  /// kNoTime of one that runs.
  Time start_from = kNoTime, start_to = kNoTime, start_by = kNoTime;
  Time end_from = kNoTime, end_to = kNoTime, end_by = kNoTime;
  std::optional<double> kept{};  ///< Chance to end by its deadline.
  /// Fewest GPUs first; none where it is not known how it scales. Nothing = not worked out.
  std::optional<std::vector<WithGpus>> other_gpus{};
};

}  // namespace almanac::service
