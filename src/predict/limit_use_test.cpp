// SPDX-License-Identifier: Apache-2.0
#include "predict/limit_use.h"

#include <gtest/gtest.h>

namespace almanac::predict {
namespace {

trace::Request limited(std::uint32_t user, Duration limit) {
  trace::Request made;
  made.gpus = 1;
  made.user = NameId{user};
  made.time_limit = limit;
  return made;
}

/// Median run time, in seconds.
double median_s(const LimitUse& limits, const trace::Request& request) {
  return std::pow(10.0, limits.run_time(request).quantile(0.5));
}

TEST(LimitUse, CarriesTheRatiosOfAUserToAnotherLimit) {
  LimitUse limits;
  for (int at = 0; at < 100; ++at) {
    limits.learn(limited(1, 1h), 6min);   // a tenth
    limits.learn(limited(2, 1h), 48min);  // four fifths
  }
  EXPECT_NEAR(median_s(limits, limited(1, 10h)), 3600, 400);
  EXPECT_NEAR(median_s(limits, limited(2, 10h)), 8 * 3600, 3000);
}

TEST(LimitUse, TakesANewUserForOneOfAll) {
  LimitUse limits;
  for (int at = 0; at < 100; ++at) limits.learn(limited(1, 1h), 30min);
  EXPECT_NEAR(median_s(limits, limited(9, 2h)), 3600, 400);
}

TEST(LimitUse, LetsNoJobOutliveItsLimit) {
  LimitUse limits;
  for (int at = 0; at < 100; ++at) limits.learn(limited(1, 1h), 3h);  // a cluster that gives grace
  const Distribution said = limits.run_time(limited(1, 1h));
  for (std::size_t cell = Distribution::cell_of(std::log10(3600.0)) + 1;
       cell < Distribution::kCells; ++cell) {
    EXPECT_EQ(said.mass(cell), 0);
  }
}

}  // namespace
}  // namespace almanac::predict
