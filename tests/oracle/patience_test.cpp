// SPDX-License-Identifier: Apache-2.0

/// \file
/// What becomes of policies that ask a solver which gives up.
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rules/solver/linear_program.h"
#include "support/draft.h"
#include "support/scenario.h"

namespace almanac {
namespace {

constexpr const char* kTwoTypes = R"(# name: two types
# description: A may run on any GPU and B on the V100 only
cluster 1 x 1 gpu V100
cluster 1 x 1 gpu P100
restart 0s
job A submit 0s gpus 1 run 100s
job B submit 0s gpus 1 run 100s type V100
policy gavel
expect A 0s..100s  B 0s..100s
)";

/// How much later B starts than A.
Duration lead_of_a(const Case& input) {
  const Result<Played> played = play(input);
  EXPECT_TRUE(played);
  EXPECT_TRUE(played->faults.empty());
  const sim::JobResults& jobs = played->result.jobs;
  return jobs[1].start - jobs[0].start;
}

// The program gives all of the V100 to B. Without an answer each has a half of it, and A, which
// came first, has it first.
TEST(Patience, WithoutAnAnswerEachJobHasItsPartOfEachType) {
  auto scenario = parse_scenario(kTwoTypes, "two types");
  ASSERT_TRUE(scenario) << to_string(scenario.error());
  scenario->input.policy = "gavel";
  EXPECT_EQ(lead_of_a(scenario->input), 0s);
  const solver::Patience none(0);
  EXPECT_EQ(lead_of_a(scenario->input), 100s);
}

RC_GTEST_PROP(Patience, WithoutAnyEachJobEndsAllTheSame, ()) {
  Case input = to_case(*drafts());
  input.policy = *rc::gen::element<std::string>("gavel:fairness:7", "gavel:finish_time:7",
                                                "gavel:duration:7", "gavel:throughput:7",
                                                "gavel:tenants:7", "gavel_cost:7", "fair_srtf:7");
  RC_LOG() << input.policy << '\n';
  const solver::Patience none(*rc::gen::inRange(0, 2));
  const Result<Played> played = play(input);
  RC_ASSERT(played.has_value());
  RC_ASSERT(played->faults.empty());
  for (std::size_t job = 0; job < played->result.jobs.size(); ++job) {
    RC_ASSERT(played->result.jobs[job].phase == policy::Phase::ended);
  }
}

}  // namespace
}  // namespace almanac
