// SPDX-License-Identifier: Apache-2.0

/// \file
/// A fast variant first, and a better one for answers that it is not sure of.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "deployment/deployment.h"

namespace almanac::deployment {

/// The answer of a variant to one item, among items that all variants were tried on.
struct TriedAnswer {
  bool right = false;
  double confidence = 0;  ///< 0 to 1.
};

struct Cascade {
  std::size_t first = 0;
  std::optional<std::size_t> second{};  ///< Empty if the first variant answers everything.
  double threshold = 0;  ///< The second is asked if the confidence of the first is below this.
  double accuracy = 0;   ///< Over the items tried.
  double mean_ms = 0;    ///< Mean per request on whole GPUs.
};

/// Returns the cascade with the least mean time whose accuracy is at most `tolerance`, as a
/// fraction, below that of the most accurate variant. `answers` by variant, then item; each variant
/// has all items, at least one. O(variants^2 x items log items).
///
/// Source   Halpern et al., ISPASS'19 (Tolerance Tiers): for each tolerance that a user may
///          request, the cheapest path through versions of a service, found on the answers of all;
///          Wang et al., EuroSys'23 (Tabi): by a small model's confidence.
/// Differs  Two levels; confidence is not calibrated.
Cascade cheapest_cascade(std::span<const Variant> variants,
                         const std::vector<std::vector<TriedAnswer>>& answers, double tolerance);

}  // namespace almanac::deployment
