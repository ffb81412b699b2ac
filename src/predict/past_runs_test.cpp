// SPDX-License-Identifier: Apache-2.0
#include "predict/past_runs.h"

#include <gtest/gtest.h>

namespace almanac::predict {
namespace {

class PastRunsTest : public testing::Test {
 protected:
  trace::Request request(std::string_view user, std::string_view name) {
    trace::Request made;
    made.gpus = 1;
    made.user = names_.intern(user);
    made.name = names_.intern(name);
    return made;
  }
  void learn(const trace::Request& request, Duration ran, int times) {
    for (int at = 0; at < times; ++at) {
      past_.learn(memory_.keys(request), ran);
      memory_.ended(JobId{0}, request, {.ran = ran});
    }
  }
  double median_s(const trace::Request& request) {
    return std::pow(10.0, past_.run_time(memory_.keys(request), memory_).quantile(0.5));
  }

  Names names_;
  Memory memory_{names_};
  PastRuns past_;
};

TEST_F(PastRunsTest, NarrowsFromAllJobsToTheUserToTheName) {
  learn(request("ann", "train"), 1000s, 100);
  learn(request("ann", "test"), 10s, 300);
  learn(request("bob", "serve"), 10'000s, 1000);
  EXPECT_NEAR(median_s(request("eve", "new")), 10'000, 1000) << "most jobs";
  EXPECT_NEAR(median_s(request("ann", "new")), 10, 1) << "most of hers";
  EXPECT_NEAR(median_s(request("ann", "train")), 1000, 100) << "all of that name";
}

TEST_F(PastRunsTest, KeepsTheRareLongRunThatTheLastTenDoNotHave) {
  learn(request("ann", "a"), 100'000s, 5);
  learn(request("ann", "b"), 10s, 95);
  const Distribution said = past_.run_time(memory_.keys(request("ann", "new")), memory_);
  EXPECT_NEAR(1 - said.position(4.5), 0.05, 0.03);
}

}  // namespace
}  // namespace almanac::predict
