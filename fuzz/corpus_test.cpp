// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs a fuzz target, linked beside this, over its seeds: the folder ALMANAC_CORPUS of
/// fuzz/corpus.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace almanac {
namespace {

namespace fs = std::filesystem;

// A crash or a broken promise ends the program; that is the test.
TEST(FuzzCorpus, IsReadWithoutHarm) {
  const char* const source = std::getenv("ALMANAC_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  int seeds = 0;
  for (const auto& seed :
       fs::directory_iterator(fs::path(source) / "fuzz/corpus" / ALMANAC_CORPUS)) {
    SCOPED_TRACE(seed.path());
    std::ifstream file(seed.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++seeds;
  }
  EXPECT_GT(seeds, 0);
}

}  // namespace
}  // namespace almanac
