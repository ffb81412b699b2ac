// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "fuzz/trace_reader.h"

namespace almanac {
namespace {

namespace fs = std::filesystem;

// A crash or a broken promise ends the program; that is the test.
TEST(FuzzCorpus, OfEveryReaderIsReadWithoutHarm) {
  const char* const source = std::getenv("ALMANAC_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  int seeds = 0;
  for (const std::string& target : fuzz::trace_targets()) {
    const fs::path folder = fs::path(source) / "fuzz" / "corpus" / target;
    ASSERT_TRUE(fs::is_directory(folder)) << folder;
    for (const auto& seed : fs::directory_iterator(folder)) {
      SCOPED_TRACE(seed.path());
      std::ifstream file(seed.path(), std::ios::binary);
      fuzz::read_trace_bytes(target, std::string{std::istreambuf_iterator<char>(file), {}});
      ++seeds;
    }
  }
  EXPECT_GT(seeds, 0);
}

}  // namespace
}  // namespace almanac
