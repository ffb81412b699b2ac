// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the files of a run say, and that damage is found.
#include "shepherd/record.h"

#include <string>

#include <gtest/gtest.h>

namespace almanac::shepherd {
namespace {

Exit well() {
  return {.message = "",
          .start = Time{1000s},
          .end = Time{1012s},
          .ran = 12s,
          .usage = {.cpu_s = 1.25}};
}

TEST(Record, AFlippedBitIsFound) {
  const std::string text = to_json(well());
  int unlike = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const auto read = parse_record<Exit>(damaged);
      if (!read) {
        EXPECT_EQ(read.error().code, Code::corrupt);
        ++unlike;
        continue;
      }
      // White space, or the name of the checksum: what it says is what was said.
      EXPECT_EQ(to_json(*read), text) << at << "." << bit;
    }
  }
  EXPECT_GT(unlike, static_cast<int>(text.size()) * 6);
}

TEST(Record, OfAnEarlierReleaseHasNoChecksum) {
  std::string text = to_json(well());
  const std::size_t from = text.find("\n \"fnv1a64\"");
  text.erase(from, text.find('\n', from + 1) - from);
  const auto read = parse_record<Exit>(text);
  ASSERT_TRUE(read) << to_string(read.error()) << text;
  EXPECT_EQ(read->ran, 12s);
}

TEST(Record, SaysTheSameOfWhatIsNotUtf8) {
  Exit odd = well();
  odd.message = "cannot run \xff\xfe";
  const auto read = parse_record<Exit>(to_json(odd));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(to_json(*read), to_json(odd));
}

}  // namespace
}  // namespace almanac::shepherd
