// SPDX-License-Identifier: Apache-2.0

#include "serving/token_table.h"

#include <algorithm>

namespace almanac::inference {

double TokenTable::at(double tokens, Micros Knot::*value) const {
  auto right = std::lower_bound(knots_.begin() + 1, knots_.end() - 1, tokens,
                                [](const Knot& knot, double asked) { return knot.tokens < asked; });
  const Knot& low = right[-1];
  const Knot& high = *right;
  const double slope = (high.*value - low.*value) / (high.tokens - low.tokens);
  return slope * (tokens - low.tokens) + low.*value;
}

Micros TokenTable::operator()(const Batch& batch) const {
  const auto tokens = static_cast<double>(batch.prefill_tokens() + batch.decodes);
  if (batch.prefills.empty()) return decode(tokens);
  return batch.decodes > 0 ? 1.1 * prompt(tokens) : prompt(tokens);
}

}  // namespace almanac::inference
