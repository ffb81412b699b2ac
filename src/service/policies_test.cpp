// SPDX-License-Identifier: Apache-2.0
#include "service/policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/registry.h"

namespace almanac::service {
namespace {

TEST(StandIn, PredictsWhatOnlyASimulationKnows) {
  EXPECT_EQ(stand_in("srtf"), "srtf+rolling");
  EXPECT_EQ(stand_in("easy+oracle"), "easy+rolling");
  EXPECT_EQ(stand_in("sjf+noisy+easy:1"), "sjf+rolling+easy:1");
  EXPECT_EQ(stand_in("qssf"), std::nullopt);
  EXPECT_EQ(stand_in("fifo"), std::nullopt) << "it reads no run times";
  EXPECT_EQ(stand_in("nonsense"), std::nullopt);
}

TEST(StandIn, IsWhatAServiceComposes) {
  for (const char* const text : {"srtf", "easy+oracle", "qssf+given"}) {
    EXPECT_EQ(compose(text)->estimate, compose(*stand_in(text))->estimate) << text;
  }
}

TEST(StandIn, SaysInOneSentenceWhatRuns) {
  EXPECT_EQ(live_note("easy+oracle"),
            "policy easy+oracle uses true run times, which only a simulated log has: the service "
            "runs easy+rolling and predicts run times from past jobs");
  EXPECT_THAT(live_note("qssf+given"), testing::HasSubstr("the predictions of a job log"));
  EXPECT_EQ(live_note("qssf"), "");
  EXPECT_THAT(live_note("qssf+scan+harmless"), testing::HasSubstr("do not share them"));
  EXPECT_EQ(live_note("qssf+scan+harmless", true), "");
  EXPECT_EQ(live_note("qssf+scan+gandiva"), "");
}

TEST(LivePolicies, HaveTheSignalsThatTheyRead) {
  std::vector<std::string> refused;
  for (const policy::Composition& known : policy::registry().policies()) {
    const bool reads_signals = policy::registry().traits(known).has(policy::Trait::reads_signals);
    const auto made = compose(known.name);
    if (!reads_signals) continue;
    ASSERT_FALSE(made) << known.name;
    EXPECT_EQ(made.error().code, Code::unsupported);
    refused.push_back(known.name);
  }
  EXPECT_THAT(refused, testing::IsSupersetOf({"gaia", "stop_and_go", "carbon_scaler"}));
  EXPECT_EQ(
      to_string(compose("gaia:saving").error()),
      "policy gaia:saving reads signals, such as the price or the carbon of power, and a live "
      "service gets none (use it with almanac simulate --signal)");
}

TEST(LivePolicies, ARefusedStoredPolicySaysHowToStart) {
  EXPECT_EQ(to_string(of_kept_policy(compose("gaia").error())),
            "the stored policy cannot run: policy gaia reads signals, such as the price or the "
            "carbon of power, and a live service gets none (choose another one: almanac serve "
            "--policy almanac)");
}

}  // namespace
}  // namespace almanac::service
