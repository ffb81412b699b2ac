// SPDX-License-Identifier: Apache-2.0

/// \file
/// A checksum against damage on a disk or in memory, not against attacks.
#pragma once

#include <cstdint>
#include <string_view>

namespace almanac {

/// Returns the 64-bit FNV-1a hash. A change of any single byte changes it.
///
/// Source   RFC 9923 (Fowler, Noll, Vo).
/// Cost     one multiplication per byte.
constexpr std::uint64_t checksum(std::string_view bytes) {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325;
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t sum = kBasis;
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * kPrime;
  return sum;
}

}  // namespace almanac
