// SPDX-License-Identifier: Apache-2.0

/// \file
/// Random numbers as Python's `random.Random(seed)` draws them, for programs that were published in
/// Python. Everything else draws from base/rng.h.
///
/// Source   Matsumoto, Nishimura, TOMACS 1998 (MT19937, init_by_array of 2002).
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace almanac::gavel {

class Mersenne {
 public:
  explicit Mersenne(std::uint32_t seed);

  /// Uniform in [0, 1), of 53 bits.
  double uniform();
  /// Uniform in 0 .. n-1; 0 < n < 2^32.
  std::uint32_t below(std::uint32_t n);

  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t last = values.size(); last-- > 1;) {
      std::swap(values[last], values[below(static_cast<std::uint32_t>(last) + 1)]);
    }
  }

 private:
  std::mt19937 engine_;
};

}  // namespace almanac::gavel
