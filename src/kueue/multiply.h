// SPDX-License-Identifier: Apache-2.0

/// \file
/// Amounts of many pods, which users may choose as large as they like.
#pragma once

#include <algorithm>

#include "kueue/quantity.h"

namespace almanac::kueue {

/// Returns `amount` x `count`, at most kMostAmount. Requires that neither is negative.
inline Amount times(Amount amount, Amount count) {
  Amount made = 0;
  if (__builtin_mul_overflow(amount, count, &made)) return kMostAmount;
  return std::min(made, kMostAmount);
}

}  // namespace almanac::kueue
