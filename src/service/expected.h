// SPDX-License-Identifier: Apache-2.0

/// \file
/// Forecast of the start and end of a job.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"

namespace almanac::service {

/// Forecast for another number of GPUs.
struct WithGpus {
  int gpus = 0;
  Time end_by = kNoTime;  ///< With 90 % confidence.
  std::optional<double> kept{};

  bool operator==(const WithGpus&) const = default;
};

/// All intervals and bounds have 90 % confidence.
struct Expected {
  Time at{};  ///< When the forecast was made.
  /// kNoTime for a running job.
  Time start_from = kNoTime, start_to = kNoTime, start_by = kNoTime;
  Time end_from = kNoTime, end_to = kNoTime, end_by = kNoTime;
  std::optional<double> kept{};  ///< Probability of meeting the deadline.
  double guessed = 0;            ///< Weight of a guess in the run time, 0 .. 1 (predict/pooled.h).
  /// Fewest GPUs first; empty if it is not known how the job scales. Nothing if not computed.
  std::optional<std::vector<WithGpus>> other_gpus{};

  /// Whether past jobs say little about the run time.
  bool has_little_history() const { return guessed >= 0.25; }
};

}  // namespace almanac::service
