// SPDX-License-Identifier: Apache-2.0
#include "rules/fairness/decayed_use.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace almanac::fairness {

DecayedUse::DecayedUse(double half_life_s) : half_life_s_(half_life_s) {
  ALMANAC_CHECK(half_life_s > 0, "a half-life of {} s", half_life_s);
}

void DecayedUse::add(double rate, double from_s, double until_s) {
  ALMANAC_CHECK(from_s <= until_s, "use from {} s until {} s", from_s, until_s);
  if (until_s > as_of_s_) {
    use_ = at(until_s);
    as_of_s_ = until_s;
  }
  if (std::isinf(half_life_s_)) {
    use_ += rate * (until_s - from_s);
    return;
  }
  // 2^(-t / h) integrates to h / ln 2; 1 - 2^-x of a short use would lose its digits.
  const double mean_life_s = half_life_s_ / std::numbers::ln2;
  const double at_end = -std::expm1(-(until_s - from_s) / mean_life_s) * mean_life_s;
  use_ += rate * at_end * std::exp2(-(as_of_s_ - until_s) / half_life_s_);
}

void DecayedUse::add_amount(double amount, double at_s) {
  if (at_s > as_of_s_) {
    use_ = at(at_s);
    as_of_s_ = at_s;
  }
  use_ += amount * std::exp2(-(as_of_s_ - at_s) / half_life_s_);
}

double DecayedUse::at(double now_s) const {
  return use_ * std::exp2(-std::max(now_s - as_of_s_, 0.0) / half_life_s_);
}

}  // namespace almanac::fairness
