// SPDX-License-Identifier: Apache-2.0
#include "gavel/mersenne.h"

#include <array>
#include <bit>
#include <sstream>

namespace almanac::gavel {
namespace {

constexpr std::size_t kWords = 624;

/// The state after init_by_array with the one key `seed`.
std::array<std::uint32_t, kWords> words_of(std::uint32_t seed) {
  std::array<std::uint32_t, kWords> words{};
  words[0] = 19650218U;
  for (std::uint32_t at = 1; at < kWords; ++at) {
    words[at] = 1812433253U * (words[at - 1] ^ (words[at - 1] >> 30U)) + at;
  }
  std::size_t at = 1;
  const auto advance = [&] {
    if (++at < kWords) return;
    words[0] = words[kWords - 1];
    at = 1;
  };
  for (std::size_t step = 0; step < kWords; ++step) {
    words[at] = (words[at] ^ ((words[at - 1] ^ (words[at - 1] >> 30U)) * 1664525U)) + seed;
    advance();
  }
  for (std::size_t step = 1; step < kWords; ++step) {
    words[at] = (words[at] ^ ((words[at - 1] ^ (words[at - 1] >> 30U)) * 1566083941U)) -
                static_cast<std::uint32_t>(at);
    advance();
  }
  words[0] = 0x80000000U;
  return words;
}

}  // namespace

Mersenne::Mersenne(std::uint32_t seed) {
  // The standard engine takes a state only as text: its words, then how many of them are used up.
  std::stringstream text;
  for (const std::uint32_t word : words_of(seed)) text << word << ' ';
  text << kWords;
  text >> engine_;
}

double Mersenne::uniform() {
  const auto high = static_cast<double>(engine_() >> 5U);
  const auto low = static_cast<double>(engine_() >> 6U);
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

std::uint32_t Mersenne::below(std::uint32_t n) {
  const int bits = std::bit_width(n);
  for (;;) {
    const auto drawn = static_cast<std::uint32_t>(engine_() >> static_cast<unsigned>(32 - bits));
    if (drawn < n) return drawn;
  }
}

}  // namespace almanac::gavel
