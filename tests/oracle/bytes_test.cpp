// SPDX-License-Identifier: Apache-2.0

/// \file
/// Random bytes through the engine's fuzzer, for compilers that cannot fuzz: unlike nodes, GPU
/// types and changing sizes, which the other properties leave out.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace almanac {
namespace {

TEST(AnyBytes, KeepTheRules) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    Rng rng(seed);
    std::vector<std::uint8_t> bytes(rng.below(900));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.below(256));
    SCOPED_TRACE(seed);
    EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0);
  }
}

}  // namespace
}  // namespace almanac
