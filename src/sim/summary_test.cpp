// SPDX-License-Identifier: Apache-2.0
#include "sim/summary.h"

#include <gtest/gtest.h>

namespace almanac::sim {
namespace {

std::string row_of(const char* policy) {
  Summary summary;
  summary.policy = policy;
  return to_csv_row(summary);
}

TEST(Summary, QuotesNamesInCsvWhereTheyNeedIt) {
  EXPECT_TRUE(row_of("fifo+easy:2").starts_with("fifo+easy:2,0,0,"));
  EXPECT_TRUE(row_of("mine, slower").starts_with("\"mine, slower\",0,0,"));
  EXPECT_TRUE(row_of("the \"best\"").starts_with("\"the \"\"best\"\"\",0,0,"));
}

}  // namespace
}  // namespace almanac::sim
