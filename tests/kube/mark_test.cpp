// SPDX-License-Identifier: Apache-2.0

/// \file
/// The annotation almanac/order, which anyone who may edit a workload can forge.
#include "kube/mark.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "kube/read_objects.h"
#include "objects.h"

namespace almanac::kube {
namespace {

TEST(Mark, IsReadAsItWasWritten) {
  const Mark priority{.field = Field::priority, .base = -5, .value = -2};
  EXPECT_EQ(to_text(priority), R"({"base":-5,"field":"priority","value":-2})");
  const auto read = parse_mark(to_text(priority));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->field, Field::priority);
  EXPECT_EQ(read->base, -5);
  EXPECT_EQ(read->value, -2);
  EXPECT_TRUE(parse_mark(to_text({.field = Field::boost, .base = 0, .value = 3})));
}

TEST(Mark, TheLongestHasRoom) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  const std::string longest =
      to_text({.field = Field::priority, .base = kLeast, .value = kLeast + 3});
  EXPECT_EQ(longest.size(), 59U);
  EXPECT_TRUE(parse_mark(longest));
}

TEST(Mark, ForgedTextCountsForNothing) {
  const auto text = [](const char* field, const char* base, const char* value) {
    return std::string(R"({"field":")") + field + R"(","base":)" + base + R"(,"value":)" + value +
           "}";
  };
  ASSERT_TRUE(parse_mark(text("priority", "0", "3")));
  for (const std::string& forged :
       {text("priority", "0", "4"),
        text("priority", "0", "0"),
        text("priority", "3", "0"),
        text("priority", "-1000", "7"),
        text("boost", "1", "2"),
        text("Priority", "0", "3"),
        text("active", "0", "3"),
        text("priority", "0.0", "3"),
        text("priority", "\"0\"", "3"),
        text("priority", "true", "3"),
        text("priority", "2147483647", "2147483648"),
        text("priority", "2147483648", "2147483649"),
        text("priority", "-2147483649", "-2147483648"),
        text("priority", "-9223372036854775808", "9223372036854775807"),
        text("priority", "18446744073709551615", "18446744073709551615"),
        text("priority", "18446744073709551614", "1"),
        text("priority", "1e999", "3"),
        std::string(R"({"base":0,"value":3})"),
        std::string(R"({"field":"priority","base":0})"),
        std::string(R"({"field":["priority"],"base":0,"value":3})"),
        std::string(R"([{"field":"priority","base":0,"value":3}])"),
        std::string("null"),
        std::string("3"),
        std::string(),
        std::string("{"),
        std::string("\xff\xfe\x00{", 4),
        std::string(100, '['),
        std::string("\x1b[31m")}) {
    EXPECT_FALSE(parse_mark(forged)) << forged;
  }
}

// An annotation may have 256 KiB, and each of 10,000 workloads may have one.
TEST(Mark, LongTextIsNotLookedAt) {
  std::string padded = R"({"field":"priority","base":0,"value":3)";
  padded += std::string(kLongestMark - padded.size() - 1, ' ') + "}";
  EXPECT_TRUE(parse_mark(padded));
  padded.insert(1, " ");
  EXPECT_FALSE(parse_mark(padded));
  EXPECT_FALSE(parse_mark(std::string(1 << 18, '[')));
}

TEST(Mark, AWorkloadIsReadWhateverItIs) {
  Json made = workload("w", "main", 8);
  for (const std::string& text : {std::string(1 << 18, '['), std::string("{\"base\":")}) {
    made["metadata"]["annotations"]["almanac/order"] = text;
    const auto read = read_workload(made);
    ASSERT_TRUE(read) << to_string(read.error());
    EXPECT_FALSE(read->mark);
  }
  made["metadata"]["annotations"]["almanac/order"] =
      to_text({.field = Field::priority, .base = 0, .value = 3});
  EXPECT_TRUE(read_workload(made)->mark);
}

}  // namespace
}  // namespace almanac::kube
