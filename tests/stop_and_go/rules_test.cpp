// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policy stop_and_go keeps the rules on crowded days whose price goes up and down and whose
/// nodes fail, told to judge by minutes what it judges by days.
#include "support/rules.h"

#include <gtest/gtest.h>

#include "conformance/days.h"

namespace almanac {
namespace {

TEST(StopAndGo, KeepsTheRulesWhileItStopsJobs) {
  std::size_t stops = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Case input = crowded_day_with_cores(seed);
    for (std::size_t job = 0; job < input.trace.jobs.size(); job += 3) {
      trace::Request& request = input.trace.jobs[job].request;
      request.deadline = request.submit + 30min;
    }
    input.policy = "stop_and_go:0.4:1200:7200";
    input.incidents = bad_day(input, seed);
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
    for (std::size_t job = 0; job < played->result.jobs.size(); ++job) {
      stops += played->result.jobs[job].preemptions;
    }
  }
  EXPECT_GT(stops, 50U);
}

}  // namespace
}  // namespace almanac
