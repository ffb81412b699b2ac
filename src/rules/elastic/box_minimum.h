// SPDX-License-Identifier: Apache-2.0

/// \file
/// Minimum of a function of a few variables, each between two bounds.
#pragma once

#include <array>
#include <cstddef>
#include <functional>

namespace almanac::elastic {

/// A box in `N` dimensions. A variable with equal bounds is fixed.
template <std::size_t N>
struct Box {
  std::array<double, N> lower{};
  std::array<double, N> upper{};
};

template <std::size_t N>
struct Minimum {
  std::array<double, N> at{};
  double value = 0;
};

/// Returns a local minimum near `start`, which must lie in the box. `function` returns its value
/// and writes the gradient. It may have kinks, as the root of a sum of squares has at 0.
/// Deterministic.
///
/// Source   L-BFGS of NLopt (Nocedal, Math. Comp. 35, 1980, in the code of Luksan).
/// Cost     about 100 evaluations, at most 1,000
using Function7 = std::function<double(const std::array<double, 7>&, std::array<double, 7>&)>;
Minimum<7> minimise(const Function7& function, const Box<7>& box, std::array<double, 7> start);

}  // namespace almanac::elastic
