// SPDX-License-Identifier: Apache-2.0
#include "advice/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::advice {
namespace {

using testing::HasSubstr;

Advice small_advice() {
  Advice made{.jobs = 100, .users = 7, .days = 20, .stock = {.avg_wait_s = 7200}};
  made.outcomes.push_back({.policy = "almanac",
                           .summary = "least expected GPU time first",
                           .figures = {.avg_wait_s = 3600},
                           .wait = {.times = 2, .sure = Interval{1.5, 2.5}},
                           .sizes = {{.kind = GroupKind::size,
                                      .who = "jobs of 1 GPU",
                                      .jobs = 90,
                                      .before_s = 7000,
                                      .after_s = 3000},
                                     {.kind = GroupKind::size,
                                      .who = "jobs of 5 to 8 GPUs",
                                      .jobs = 10,
                                      .before_s = 9000,
                                      .after_s = 9600}},
                           .losers = {{.kind = GroupKind::user,
                                       .who = "user eve",
                                       .jobs = 12,
                                       .before_s = 60,
                                       .after_s = 4000}},
                           .users_losing = 1});
  made.best = 0;
  made.recommendation =
      "Try almanac (least expected GPU time first): average wait 1h instead of 2h.";
  made.reproduction = Reproduction{
      .all = {.who = "all jobs", .jobs = 100, .near = 0.8, .tenth = 0.7},
      .causes = {{Cause::dependency, 20}},
      .most = {{.job = "17", .recorded_s = 9000, .simulated_s = 0, .cause = Cause::dependency}}};
  made.assumptions = {"the same jobs arrive at the same times"};
  return made;
}

TEST(AdviceDocument, LeadsWithWaitsBeforeAndAfterThenNamesWhoLoses) {
  const figure::Document made = document(small_advice(), {.log = "logs/june.txt"});
  EXPECT_EQ(made.kind, "advice");
  EXPECT_EQ(made.title, "june.txt");
  ASSERT_GE(made.sections.size(), 3U);
  EXPECT_TRUE(made.sections[0].leads);
  const figure::Figure& sizes = made.sections[0].figures[0];
  EXPECT_EQ(sizes["size"].texts,
            (std::vector<std::string>{"Jobs of 1 GPU", "Jobs of 5 to 8 GPUs"}));
  EXPECT_EQ(sizes["today_s"].numbers, (std::vector<double>{7000, 9000}));
  EXPECT_EQ(sizes["after_s"].numbers, (std::vector<double>{3000, 9600}));
  const figure::Figure& policies = made.sections[0].figures[1];
  EXPECT_EQ(policies["policy"].texts, (std::vector<std::string>{"Slurm today", "almanac"}));
  EXPECT_EQ(policies["users_losing"].numbers, (std::vector<double>{0, 1}));
  EXPECT_EQ(made.sections[1].figures[0]["who"].texts, std::vector<std::string>{"User eve"});
}

TEST(AdviceDocument, SaysHowWellTheSimulationMatchesAndWhatToRun) {
  const figure::Document made = document(small_advice(), {.log = "logs/june.txt"});
  const auto section = [&](const std::string& id) {
    return *std::find_if(made.sections.begin(), made.sections.end(),
                         [&](const figure::Section& each) { return each.id == id; });
  };
  EXPECT_EQ(section("reproduction").figures[0]["near"].numbers, std::vector<double>{0.8});
  EXPECT_EQ(section("reproduction").figures[1]["cause"].texts,
            std::vector<std::string>{"dependency"});
  EXPECT_THAT(section("commands").text, HasSubstr("almanac slurm levers order on"));
  EXPECT_THAT(made.findings.front().headline, HasSubstr("Try almanac"));
  EXPECT_THAT(made.notes.back(), HasSubstr("The same jobs arrive"));
}

TEST(AdviceDocument, RecommendsNothingIfTheSimulationDoesNotMatch) {
  Advice advice = small_advice();
  advice.reproduces = false;
  const figure::Document made = document(advice, {.log = "june.txt"});
  EXPECT_EQ(made.tiles.front().value, "none");
  for (const figure::Section& each : made.sections) {
    EXPECT_EQ(each.text.find("levers order on"), std::string::npos);
  }
}

}  // namespace
}  // namespace almanac::advice
