// SPDX-License-Identifier: Apache-2.0

/// \file
/// Random numbers that are the same on every machine. The standard library defines its engines
/// exactly but not its distributions, so the few that Almanac needs are implemented here.
///
/// Source   Steele, Lea, Flood, OOPSLA'14 (SplitMix64); Lemire, TOMACS 2019 (unbiased range).
#pragma once

#include <cmath>
#include <cstdint>

namespace almanac {

/// A stream of SplitMix64. Streams are cheap: give each independent process its own.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}
  /// Makes stream number `stream` of `seed`.
  Rng(std::uint64_t seed, std::uint64_t stream) : state_(seed) {
    state_ = next() ^ (stream * 0xd1342543de82ef95ULL);
    state_ = next();
  }

  /// Returns 64 random bits.
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// Returns a uniform number in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Returns a uniform number in 0 .. n-1; n > 0.
  std::uint64_t below(std::uint64_t n) {
    __extension__ using Wide = unsigned __int128;
    Wide product = Wide{next()} * n;
    if (static_cast<std::uint64_t>(product) < n) {
      const std::uint64_t threshold = (0 - n) % n;
      while (static_cast<std::uint64_t>(product) < threshold) product = Wide{next()} * n;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  /// Returns an exponential number with mean 1.
  double exponential() { return -std::log1p(-uniform()); }

  /// Returns a normal number with mean 0 and standard deviation 1 (Box-Muller, one of the pair).
  double normal() {
    constexpr double kTwoPi = 6.283185307179586;
    const double radius = std::sqrt(2 * exponential());
    return radius * std::cos(kTwoPi * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace almanac
