// SPDX-License-Identifier: Apache-2.0
#include "steer/policies.h"

#include <gtest/gtest.h>

namespace almanac::steer {
namespace {

TEST(SlurmPolicies, RefusesToDealJobsToPartsWhichEachDecisionWouldForget) {
  const auto refused = compose("srtf+pop:4");
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      to_string(refused.error()),
      "policy srtf+pop:4 keeps each job in one part of the nodes, which needs memory from one "
      "decision to the next (without +pop the policy can decide for Slurm, over all nodes)");
  EXPECT_TRUE(compose("srtf"));
}

TEST(SlurmPolicies, NamesOthersWhereThePolicyWouldNotDoUndividedEither) {
  const auto refused = compose("elasticflow+pop");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(to_string(refused.error())
                  .ends_with("(qssf, sjf, las, gittins, easy and fifo can decide for Slurm)"))
      << to_string(refused.error());
}

}  // namespace
}  // namespace almanac::steer
