// SPDX-License-Identifier: Apache-2.0
#include "cli/kueue_advice_text.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::cli {
namespace {

using testing::HasSubstr;

TEST(KueueAdviceText, HasWordsForAWaitOfWhichNothingIsLeft) {
  advice::KueueAdvice advice;
  advice.variants.push_back({.name = "with quota", .wait = {.times = HUGE_VAL}});
  advice.variants.push_back(
      {.name = "more", .wait = {.times = 4, .sure = advice::Interval{2, HUGE_VAL}}});
  const std::string table = kueue_advice_rows(advice).table();
  EXPECT_THAT(table, HasSubstr("no wait left")) << table;
  EXPECT_THAT(table, HasSubstr("4.00x (2.00x to no wait left)"));
}

}  // namespace
}  // namespace almanac::cli
