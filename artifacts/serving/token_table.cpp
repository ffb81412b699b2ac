// SPDX-License-Identifier: Apache-2.0

#include "serving/token_table.h"

#include <algorithm>

namespace almanac::serving {

double TokenTable::at(double tokens, double Knot::*value) const {
  auto right = std::lower_bound(knots_.begin() + 1, knots_.end() - 1, tokens,
                                [](const Knot& knot, double asked) { return knot.tokens < asked; });
  const Knot& low = right[-1];
  const Knot& high = *right;
  const double slope = (high.*value - low.*value) / (high.tokens - low.tokens);
  return slope * (tokens - low.tokens) + low.*value;
}

double TokenTable::iteration_s(std::int32_t tokens, std::int32_t prompts,
                               std::int32_t decodes) const {
  if (prompts == 0) return at(tokens, &Knot::decode);
  const double made = at(tokens, &Knot::prompt);
  return decodes > 0 ? made * 1.1 : made;
}

}  // namespace almanac::serving
