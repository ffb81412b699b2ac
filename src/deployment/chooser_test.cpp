// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which variants answer requests that come one after the other, and how their answers are
/// combined.
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "deployment/registry.h"
#include "deployment/task_run.h"

namespace almanac::deployment {
namespace {

/// `requests` for a task, each for one of the items: their right labels, and what each variant says
/// to them. The first variant takes 3 ms, the second 30, every other one 3.
TaskCase tried_on(const std::vector<int>& right, const std::vector<std::vector<Label>>& said,
                  int requests) {
  TaskCase made{.services = {{.task = "see", .rate = 1, .slo_ms = 200}},
                .answers = {{.right = right, .said = said}}};
  for (std::size_t each = 0; each < said.size(); ++each) {
    made.variants.push_back(
        {.name = std::to_string(each), .task = "see", .item_ms = each == 1 ? 30.0 : 3.0});
  }
  for (int each = 0; each < requests; ++each) made.arrivals.push_back({100.0 * each, 0});
  return made;
}

std::vector<Label> surely(const std::vector<int>& labels) {
  std::vector<Label> made;
  for (const int label : labels) made.push_back({label, 1});
  return made;
}

/// Ten items of label 1. The small variant is sure of five and right. It is half sure of the
/// others, and right in two of them, for which the large one is wrong and not sure.
TaskCase tried_by_two_sizes() {
  std::vector<std::vector<Label>> said(2);
  for (int item = 0; item < 10; ++item) {
    const bool is_easy = item < 5, fools_large = item >= 8;
    said[0].push_back({is_easy || fools_large ? 1 : 2, is_easy ? 0.95 : 0.55});
    said[1].push_back({fools_large ? 3 : 1, fools_large ? 0.35 : 0.95});
  }
  return tried_on(std::vector<int>(10, 1), said, 4000);
}

/// What the small one is half sure of is right in 2 of 5 cases, what the large one is not sure of
/// in none. By itself the small one is right in 7 of 10 cases, the large one in 8.
TEST(Tabi, CombinesBothAnswersByHowOftenEachIsRight) {
  const TaskCase told = tried_by_two_sizes();
  const auto cascade = play_tasks(told, "earliest_start", "cascade");
  const auto tabi = play_tasks(told, "earliest_start", "tabi");
  ASSERT_TRUE(cascade && tabi);
  // Both ask the large one where the small one is half sure. The cascade takes its answer.
  EXPECT_EQ(tabi->queries, cascade->queries);
  EXPECT_NEAR(static_cast<double>(tabi->queries), 6000, 150);
  EXPECT_NEAR(static_cast<double>(cascade->right), 3200, 100);
  EXPECT_EQ(tabi->right, 4000U);
}

TEST(Tabi, NeedsConfidences) {
  TaskCase told = tried_by_two_sizes();
  for (auto& said : told.answers[0].said) {
    for (Label& each : said) each.confidence = 1;
  }
  const auto refused = play_tasks(told, "earliest_start", "tabi");
  ASSERT_FALSE(refused);
  EXPECT_EQ(to_string(refused.error()),
            "tabi needs the confidence of the answers, and none of a service is below 1 (give the "
            "table of answers a column confidence, 0 to 1)");
}

TEST(Cocktail, WeighsVotesByClass) {
  // Of five items three are of class 7 and two of class 3. One variant knows class 7, and says 9
  // otherwise; two say 3 each time. Where they say 3 they are right in 2 of 5 cases, together less
  // than the one who says 7, who always is.
  const TaskCase told =
      tried_on({7, 7, 7, 3, 3},
               {surely({7, 7, 7, 9, 9}), surely({3, 3, 3, 3, 3}), surely({3, 3, 3, 3, 3})}, 4000);
  const auto all = play_tasks(told, "earliest_start", "cocktail");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->queries, 12'000U) << "the members rarely agree, so all of them stay";
  EXPECT_GT(all->right, 3960U);
  // One weight for each variant cannot be right for both classes.
  EXPECT_LT(play_tasks(told, "earliest_start", "exp4")->right, 2600U);
}

TEST(Cocktail, ShrinksToAMajorityWhileMembersAgree) {
  // Five that are always right: 5 for the first 100 requests, 3 for the next, then 2.
  const TaskCase told =
      tried_on({1, 2, 3}, std::vector<std::vector<Label>>(5, surely({1, 2, 3})), 400);
  EXPECT_EQ(play_tasks(told, "earliest_start", "cocktail")->queries, 500U + 300 + 200 + 200);
}

TEST(Cocktail, GetsAnotherMemberWhereAccuracyFalls) {
  const std::vector<TriedAnswer> right{{.right = true, .confidence = 1}};
  const auto chooser =
      registry()
          .choosers.find("cocktail")
          ->make.make({.variants = std::vector<Variant>(5), .answers = std::vector(5, right)});
  Rng rng(1);
  const auto ask_100 = [&](int label) {
    for (int each = 0; each < 100; ++each) {
      const std::vector<std::size_t> asked = chooser->ask(rng);
      std::vector<Label> said(5);
      for (const std::size_t member : asked) said[member].label = 1;
      chooser->learn(asked, said, label);
    }
    return chooser->ask(rng).size();
  };
  EXPECT_EQ(ask_100(1), 3U) << "a majority of five that all were right";
  EXPECT_EQ(ask_100(2), 4U) << "all were wrong";
  EXPECT_EQ(ask_100(2), 5U);
  EXPECT_EQ(ask_100(2), 5U) << "there is no other";
}

}  // namespace
}  // namespace almanac::deployment
