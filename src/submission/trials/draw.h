// SPDX-License-Identifier: Apache-2.0

/// \file
/// The trials of a search space.
///
/// A random trial depends only on the seed, its number and the name of each parameter: more trials,
/// or another parameter, leave earlier draws unchanged. A grid varies its parameters in file order,
/// the last one fastest.
///
/// Source   Bergstra and Bengio, JMLR 2012, on random search instead of a grid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "submission/trials/space.h"

namespace almanac::trials {

struct Trial {
  std::int64_t number = 0;            ///< From 1.
  std::vector<std::string> values{};  ///< In the order of the parameters; reals with 6 digits.

  bool operator==(const Trial&) const = default;
};

/// All of them. Same space, same trials, on any machine.
std::vector<Trial> draw(const Space& space);

}  // namespace almanac::trials
