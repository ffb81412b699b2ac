// SPDX-License-Identifier: Apache-2.0
#include "rules/fairness/trade.h"

#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::fairness {
namespace {

double speed(const std::vector<double>& gpus, const std::vector<double>& rates) {
  return std::inner_product(gpus.begin(), gpus.end(), rates.begin(), 0.0);
}

TEST(Trade, SellsTheFastTypeToWhomItHelpsMost) {
  // Both are due 4 fast and 4 slow GPUs; the fast ones make ann 1.2 and bob 4.8 times as fast.
  const Table after = trade({{4, 4}, {4, 4}}, {{1.2, 1}, {4.8, 1}});
  // The price is 2.4 slow for a fast one: bob's 4 buy 1.67.
  EXPECT_NEAR(after[0][0], 4 - 4 / 2.4, 1e-12);
  EXPECT_NEAR(after[0][1], 8, 1e-12);
  EXPECT_NEAR(after[1][0], 4 + 4 / 2.4, 1e-12);
  EXPECT_NEAR(after[1][1], 0, 1e-12);
}

TEST(Trade, LeavesUsersWhoAreAlikeAlone) {
  const Table due{{2, 3}, {4, 5}};
  EXPECT_EQ(trade(due, {{3, 1}, {6, 2}}), due);
  EXPECT_EQ(trade({}, {}), Table{});
}

RC_GTEST_PROP(Trade, KeepsSumsAndMakesNobodySlower, ()) {
  const auto users = *rc::gen::inRange<std::size_t>(1, 6);
  const auto types = *rc::gen::inRange<std::size_t>(1, 4);
  Table gpus(users, std::vector<double>(types));
  Table rates = gpus;
  for (std::size_t user = 0; user < users; ++user) {
    for (std::size_t type = 0; type < types; ++type) {
      gpus[user][type] = *rc::gen::inRange(0, 20);
      rates[user][type] = *rc::gen::inRange(1, 50) / 10.0;
    }
  }
  const Table after = trade(gpus, rates);
  for (std::size_t type = 0; type < types; ++type) {
    double had = 0;
    double has = 0;
    for (std::size_t user = 0; user < users; ++user) {
      had += gpus[user][type];
      has += after[user][type];
      RC_ASSERT(after[user][type] > -1e-9);
    }
    RC_ASSERT(std::abs(had - has) < 1e-9 * (1 + had));
  }
  // Sharing incentive: all are at least as fast as with what they were due, and those that traded
  // are faster.
  for (std::size_t user = 0; user < users; ++user) {
    const double before = speed(gpus[user], rates[user]);
    RC_ASSERT(speed(after[user], rates[user]) >= before * (1 - 1e-12));
    if (after[user] != gpus[user]) RC_ASSERT(speed(after[user], rates[user]) > before);
  }
  // No two would trade again: no owner can gain unless another loses, except gains below 5 %.
  RC_ASSERT(trade(after, rates) == after);
}

}  // namespace
}  // namespace almanac::fairness
