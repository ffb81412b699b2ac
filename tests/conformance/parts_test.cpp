// SPDX-License-Identifier: Apache-2.0

/// \file
/// What every policy must do of which each part of the nodes has one (POP).
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/days.h"
#include "conformance/expect.h"
#include "conformance/names.h"
#include "policy/registry.h"
#include "support/play.h"
#include "support/rules.h"

namespace almanac {
namespace {

using policy::registry;

/// Some policies do not go with it.
std::vector<std::string> every_policy_in_parts() {
  std::vector<std::string> names;
  for (const std::string& name : named_policies()) {
    if (registry().compose(name + "+pop")) names.push_back(name + "+pop");
  }
  return names;
}

class EveryPolicyInParts : public testing::TestWithParam<std::string> {
 protected:
  static Case day(std::uint64_t seed) {
    Case made = crowded_day(seed);
    made.policy = GetParam();
    return made;
  }
};

TEST_P(EveryPolicyInParts, KeepsTheRules) {
  const auto keep_them = [](Case input) {
    input.policy = GetParam();
    const Result<Played> played = play(input);
    ASSERT_TRUE(played) << to_string(played.error());
    EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{});
  };
  for (std::uint64_t seed = 1; seed <= 3; ++seed) keep_them(day(seed));
  keep_them(crowded_day_with_cores(1));
  keep_them(crowded_day_with_parts(1));
  keep_them(crowded_day_with_instances(1));
  keep_them(crowded_day_with_training(1));
}

TEST_P(EveryPolicyInParts, KeepsTheRulesWhereNodesFail) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) expect_rules_where_nodes_fail(day(seed), seed);
}

TEST_P(EveryPolicyInParts, ComesToAnEndThoughNodesStayAway) { expect_an_end(day(9)); }

TEST_P(EveryPolicyInParts, IsNotDisturbedByBeingAsked) {
  Case input = day(8);
  const Result<Played> alone = play(input);
  for (const std::uint32_t job : {20U, 60U, 90U}) {
    input.options.watch.job = JobId{job};
    const Result<Played> watched = play(input);
    ASSERT_TRUE(alone && watched);
    for (std::size_t at = 0; at < alone->result.jobs.size(); ++at) {
      EXPECT_EQ(alone->result.jobs[at].end, watched->result.jobs[at].end);
    }
    for (const sim::Wait& wait : watched->result.waits) {
      EXPECT_NE(wait.reason.other, JobId{job}) << "it waits for itself";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPolicyInParts, testing::ValuesIn(every_policy_in_parts()),
                         test_name);

}  // namespace
}  // namespace almanac
