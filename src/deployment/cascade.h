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

/// What a variant said to one item, of items that all variants were tried on.
struct TriedAnswer {
  bool right = false;
  double confidence = 0;  ///< 0 to 1.
};

struct Cascade {
  std::size_t first = 0;
  std::optional<std::size_t> second{};  ///< Null = the first answers all.
  double threshold = 0;                 ///< Below this confidence of the first the second is asked.
  double accuracy = 0;                  ///< Over the items tried.
  double mean_ms = 0;                   ///< Of one request on whole GPUs.
};

/// The cascade of least mean time that is right at most `tolerance` less often, as a part, than the
/// variant that is right most often. `answers` by variant, then item; each variant has all items,
/// one at least. O(variants^2 x items log items).
///
/// Source   Halpern et al., ISPASS'19 (Tolerance Tiers): for each tolerance that a user may ask the
///          cheapest way through versions of a service, found on answers of all of them; Wang et
///          al., EuroSys'23 (Tabi): by a small model's confidence.
/// Differs  Two levels; confidence is taken as it comes, without calibration.
Cascade cheapest_cascade(std::span<const Variant> variants,
                         const std::vector<std::vector<TriedAnswer>>& answers, double tolerance);

}  // namespace almanac::deployment
