// SPDX-License-Identifier: Apache-2.0

#include "table/gunzip.h"

#include <string>

#include <gtest/gtest.h>

namespace almanac::table {
namespace {

// printf '%s' TEXT | gzip -9n
constexpr std::string_view kHello{
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00"
    "\x00\x00",
    25};
constexpr std::string_view kNothing{
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00", 20};

TEST(Gunzip, ReturnsWhatGzipPackedAndNothingForAnEmptyFile) {
  EXPECT_EQ(gunzip(kHello), "hello");
  EXPECT_EQ(gunzip(kNothing), "");
}

TEST(Gunzip, ReadsTheSizeWithoutUnpacking) {
  EXPECT_EQ(gunzipped_size(kHello), 5U);
  EXPECT_EQ(gunzipped_size(kNothing), 0U);
  std::string damaged(kHello);
  damaged[11] = '\x49';
  EXPECT_EQ(gunzipped_size(damaged), 5U);
}

TEST(Gunzip, AbortsIfTheMemberIsCutOrChanged) {
  EXPECT_DEATH(gunzip(kHello.substr(0, 17)), "17 bytes are no gzip member");
  EXPECT_DEATH(gunzip(kHello.substr(0, 24)), "gzip member is damaged");
  std::string changed(kHello);
  changed[11] = '\x49';
  EXPECT_DEATH(gunzip(changed), "gzip member is damaged");
}

}  // namespace
}  // namespace almanac::table
