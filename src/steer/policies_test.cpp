// SPDX-License-Identifier: Apache-2.0
#include "steer/policies.h"

#include <gtest/gtest.h>

#include "steer/config.h"

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
  EXPECT_TRUE(
      to_string(refused.error())
          .ends_with("(almanac, qssf, sjf, las, gittins, easy and fifo can decide for Slurm)"))
      << to_string(refused.error());
}

TEST(SlurmPolicies, TakeOffWhatChoosesWithinARangeOfGpus) {
  EXPECT_EQ(Config().policy, "almanac");
  const auto chosen = compose(Config().policy);
  ASSERT_TRUE(chosen) << to_string(chosen.error());
  EXPECT_EQ(chosen->composition.name, "almanac");
  EXPECT_EQ(chosen->composition.shape, "rigid");
  EXPECT_FALSE(compose("fifo+fastest")) << "a shape that would change what jobs request";
}

TEST(SlurmPolicies, HaveTheSignalsThatTheyRead) {
  for (const char* const name : {"gaia", "stop_and_go", "gavel_cost"}) {
    const auto refused = compose(name);
    ASSERT_FALSE(refused) << name;
    EXPECT_NE(to_string(refused.error()).find("no such signals"), std::string::npos)
        << to_string(refused.error());
  }
}

}  // namespace
}  // namespace almanac::steer
