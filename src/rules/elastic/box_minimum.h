// SPDX-License-Identifier: Apache-2.0

/// \file
/// The least value of a function of a few variables, each between two bounds.
#pragma once

#include <array>
#include <cstddef>
#include <functional>

namespace almanac::elastic {

/// A box in `N` dimensions. Where both bounds are equal the variable is fixed.
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

/// A local minimum near `start`, which lies in the box. `function` gives its value and writes the
/// gradient; it may have kinks, as a root of squares has where they vanish.
///
/// Source   quasi-Newton (BFGS) on the variables that are not held by a bound (Bertsekas, SIAM J.
///          Control 20, 1982), with the line search for kinks of Lewis and Overton, Math. Program.
///          141, 2013.
/// Cost     some 50 to 200 evaluations.
using Function7 = std::function<double(const std::array<double, 7>&, std::array<double, 7>&)>;
Minimum<7> minimise(const Function7& function, const Box<7>& box, std::array<double, 7> start);

}  // namespace almanac::elastic
