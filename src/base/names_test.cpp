// SPDX-License-Identifier: Apache-2.0
#include "base/names.h"

#include <string>

#include <gtest/gtest.h>

#include "base/result.h"

namespace almanac {
namespace {

TEST(Names, KeepsEachTextOnce) {
  Names names;
  const NameId ann = names.intern("ann");
  EXPECT_NE(names.intern("bob"), ann);
  EXPECT_EQ(names.intern("ann"), ann);
  EXPECT_EQ(names[ann], "ann");
  EXPECT_EQ(names.size(), 3U) << "the empty text is always there";
}

TEST(Names, CallsTheEmptyTextNotGiven) {
  Names names;
  EXPECT_EQ(names.intern(""), kNoName);
  EXPECT_EQ(names[kNoName], "");
}

TEST(Names, FindsWithoutAdding) {
  Names names;
  const NameId ann = names.intern("ann");
  EXPECT_EQ(names.find("ann"), ann);
  EXPECT_EQ(names.find("bob"), std::nullopt);
  EXPECT_EQ(names.size(), 2U);
}

TEST(Names, StaysValidWhileItGrowsAndMoves) {
  Names names;
  const NameId first = names.intern("a short text");
  const std::string_view view = names[first];
  for (int at = 0; at < 1000; ++at) names.intern("text " + std::to_string(at));
  const Names moved = std::move(names);
  EXPECT_EQ(view, "a short text");
  EXPECT_EQ(moved.find("text 999"), moved.find("text 999"));
  EXPECT_EQ(moved[*moved.find("text 500")], "text 500");
}

TEST(Error, ReadsAsOneLineWithItsPlaceAndWhatToDo) {
  const Error error{Code::invalid, "gpus must be a whole number: x", {"a.csv", 7, 3}, "see docs"};
  EXPECT_EQ(to_string(error), "a.csv:7:3: gpus must be a whole number: x (see docs)");
  EXPECT_EQ(to_string(Error{.message = "no such file", .where = {.file = "a.csv"}}),
            "a.csv: no such file");
  EXPECT_EQ(to_string(Error{.message = "bad flag"}), "bad flag");
}

}  // namespace
}  // namespace almanac
