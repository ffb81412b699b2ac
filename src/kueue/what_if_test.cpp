// SPDX-License-Identifier: Apache-2.0
#include "kueue/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::kueue {
namespace {

using testing::HasSubstr;

/// Queue a has GPUs of one flavor; queue "b.x" has two flavors and cores.
Setup two_queues() {
  Setup made;
  made.flavors = {{.name = "h100"}, {.name = "a100"}};
  made.cohorts = {{.name = "all", .groups = {{.flavors = {{"h100", {{"nvidia.com/gpu", {4}}}}}}}}};
  made.queues = {{.name = "a",
                  .cohort = "all",
                  .groups = {{.flavors = {{"h100", {{"nvidia.com/gpu", {8}}}}}}}},
                 {.name = "b.x",
                  .cohort = "all",
                  .groups = {{.flavors = {{"h100", {{"cpu", {1000}}, {"nvidia.com/gpu", {2}}}},
                                          {"a100", {{"cpu", {0}}, {"nvidia.com/gpu", {2}}}}}}}}};
  return made;
}

TEST(WhatIf, ChangesQuotas) {
  auto made = two_queues();
  const auto done =
      change(made,
             "a.nominalQuota=16, a.borrowingLimit=2,b.x.a100.nominalQuota=4,b.x.h100.cpu."
             "lendingLimit=500m,all.nominalQuota=0");
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(made.queues[0].groups[0].flavors[0].resources.at("nvidia.com/gpu").nominal, 16);
  EXPECT_EQ(made.queues[0].groups[0].flavors[0].resources.at("nvidia.com/gpu").borrowing_limit, 2);
  EXPECT_EQ(made.queues[1].groups[0].flavors[1].resources.at("nvidia.com/gpu").nominal, 4);
  EXPECT_EQ(made.queues[1].groups[0].flavors[0].resources.at("cpu").lending_limit, 500);
  EXPECT_EQ(made.cohorts[0].groups[0].flavors[0].resources.at("nvidia.com/gpu").nominal, 0);
  EXPECT_EQ((*done)[0].owner, "ClusterQueue a");
  EXPECT_EQ((*done)[0].what, "nominalQuota of nvidia.com/gpu in flavor h100");
  EXPECT_EQ((*done)[0].from, "8");
  EXPECT_EQ((*done)[4].owner, "Cohort all");
}

TEST(WhatIf, ChangesHowAQueueDecides) {
  auto made = two_queues();
  const auto done = change(made,
                           "a.queueingStrategy=StrictFIFO,a.cohort=none,a.weight=0.5,"
                           "a.reclaimWithinCohort=Any");
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_TRUE(made.queues[0].is_strict);
  EXPECT_EQ(made.queues[0].cohort, "");
  EXPECT_EQ(made.queues[0].weight, 0.5);
  EXPECT_EQ(made.queues[0].reclaim_within_cohort, Preempts::any);
  EXPECT_EQ((*done)[0].from, "BestEffortFIFO");
  EXPECT_EQ((*done)[1].what, "cohortName");
  EXPECT_EQ((*done)[3].what, "preemption.reclaimWithinCohort");
}

TEST(WhatIf, SaysWhatItExpected) {
  const auto said = [](const char* text) {
    auto made = two_queues();
    const auto done = change(made, text);
    return done ? std::string("no error") : to_string(done.error());
  };
  EXPECT_THAT(said("a"), HasSubstr("expected QUEUE.FIELD=VALUE, found \"a\""));
  EXPECT_THAT(said("c.nominalQuota=1"),
              HasSubstr("no ClusterQueue or Cohort is called \"c\" (known: "
                        "a, b.x, all)"));
  EXPECT_THAT(said("b.x.nominalQuota=1"), HasSubstr("b.x has several quotas of GPUs: name one"));
  EXPECT_THAT(said("a.v100.nominalQuota=1"), HasSubstr("no quota of a is called \"v100\""));
  EXPECT_THAT(said("a.nominalQuota=-1"), HasSubstr("nominalQuota"));
  EXPECT_THAT(said("a.quota=1"), HasSubstr("no field that Almanac changes is called \"quota\""));
  EXPECT_THAT(said("a.queueingStrategy=LIFO"),
              HasSubstr("must be one of BestEffortFIFO, StrictFIFO, found \"LIFO\""));
  EXPECT_THAT(said("all.cohort=b"), HasSubstr("a Cohort has no cohort"));
  EXPECT_THAT(
      said("a.borrowingLimit=2,a.cohort=none"),
      HasSubstr("Kueue refuses borrowingLimit and lendingLimit of a queue without a cohort"));
  EXPECT_THAT(said("a.lendingLimit=9"), HasSubstr("refuses a lendingLimit above nominalQuota"));
  EXPECT_EQ(said("a.lendingLimit=8"), "no error");
  EXPECT_THAT(said("a.nominalQuota=8"),
              HasSubstr("nominalQuota of nvidia.com/gpu in flavor h100 of a is 8 already"));
  EXPECT_THAT(said("b.x.h100.cpu.nominalQuota=1"), HasSubstr("is 1 already")) << "1000m";
  EXPECT_THAT(said("a.borrowingLimit=none"), HasSubstr("is none already"));
  EXPECT_THAT(said("a.queueingStrategy=BestEffortFIFO"), HasSubstr("is BestEffortFIFO already"));
  EXPECT_THAT(
      said("a.nominalQuota=9,a.nominalQuota=10"),
      HasSubstr("nominalQuota of nvidia.com/gpu in flavor h100 of ClusterQueue a is changed "
                "twice"));
}

TEST(WhatIf, SaysThatACohortIsOnlyNamed) {
  auto made = two_queues();
  made.cohorts.clear();
  const auto done = change(made, "all.nominalQuota=4");
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()),
              HasSubstr("cohort all has no Cohort object, and so no quota or weight to change"));
}

}  // namespace
}  // namespace almanac::kueue
