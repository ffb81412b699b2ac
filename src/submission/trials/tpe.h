// SPDX-License-Identifier: Apache-2.0

/// \file
/// The next trial of a tuning run from the results of earlier ones, by tree-structured Parzen
/// estimators: the best trials so far and all others each give a density over a parameter's values,
/// and the next value is one that is likely among the best and unlikely among the others.
///
/// Source   Bergstra, Bardenet, Bengio, Kegl, NIPS 2011, section 4: densities l and g of the trials
///          below and above a quantile of the objective; a Gaussian for each trial, as wide as the
///          larger distance to a neighbour, mixed with the prior; of several draws from l the one
///          with the largest l/g.
/// Differs  The width has a floor, so that equal trials do not end the search. All parameters are
///          independent: a search space has no conditions.
#pragma once

#include <cstdint>
#include <span>

#include "submission/trials/draw.h"

namespace almanac::trials {

/// A trial that has reported.
struct Measured {
  Trial trial{};
  double metric = 0;  ///< Its best so far.
};

/// Returns trial `number` of a space with `Search::tpe`, given what is known of the others: random
/// while fewer than kFirstTrials have reported. Same arguments, same trial, in any order of
/// `earlier`. Time: 24 draws x trials for each parameter.
Trial suggest(const Space& space, std::span<const Measured> earlier, std::int64_t number);

}  // namespace almanac::trials
