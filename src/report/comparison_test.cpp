// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <gtest/gtest.h>

namespace almanac::report {
namespace {

sim::Summary summary(const char* policy, double wait_s) {
  sim::Summary made;
  made.policy = policy;
  made.avg_wait_s = wait_s;
  made.queued_jobs = 12345;
  return made;
}

TEST(Comparison, ComparesEachAverageWaitWithTheFirst) {
  const std::string table = comparison_table({summary("fifo", 400), summary("sjf", 100)}, {});
  EXPECT_NE(table.find("vs fifo"), std::string::npos);
  EXPECT_NE(table.find("4.00x"), std::string::npos);
  EXPECT_NE(table.find("12,345"), std::string::npos);
}

TEST(Comparison, MarksTheBestOnlyInColour) {
  const std::vector<sim::Summary> both = {summary("fifo", 400), summary("sjf", 100)};
  EXPECT_EQ(comparison_table(both, {}).find('\x1b'), std::string::npos);
  EXPECT_NE(comparison_table(both, {.colour = true}).find("\x1b[1m1m 40s"), std::string::npos);
}

}  // namespace
}  // namespace almanac::report
