// SPDX-License-Identifier: Apache-2.0

/// \file
/// The trials of a search space that need no result of another.
///
/// A random trial depends only on the seed, its number and the name of each parameter: more trials,
/// or another parameter, leave earlier draws unchanged. A grid varies its parameters in file order,
/// the last one fastest.
///
/// Source   Bergstra and Bengio, JMLR 2012, on random search instead of a grid.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "submission/trials/space.h"

namespace almanac::trials {

struct Trial {
  std::int64_t number = 0;            ///< From 1.
  std::vector<std::string> values{};  ///< In the order of the parameters; reals with 6 digits.

  bool operator==(const Trial&) const = default;
};

/// Trials of Search::tpe that are drawn at random before results count.
inline constexpr std::int64_t kFirstTrials = 10;

/// Returns all trials of a random search or a grid, and the first kFirstTrials of Search::tpe. Same
/// space, same trials, on any machine.
std::vector<Trial> draw(const Space& space);

/// Returns the random trial `number` of any space.
Trial random_trial(const Space& space, std::int64_t number);

/// Returns the random numbers for a parameter of a trial.
Rng rng_of(const Space& space, std::int64_t number, const std::string& parameter);

/// Whether a trial may have this value of the parameter.
bool has_value(const Parameter& parameter, const std::string& value);

/// Returns the value `part` of the way through the range, 0 <= part < 1. Each whole number covers
/// an equal stretch of the scale up to the next.
std::string value_at(const Range& range, double part);
/// Returns the inverse; for a whole number the middle of its stretch. `value` is a number.
double part_of(const Range& range, std::string_view value);

}  // namespace almanac::trials
