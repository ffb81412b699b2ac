// SPDX-License-Identifier: Apache-2.0
#include "service/policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace almanac::service
