// SPDX-License-Identifier: Apache-2.0
#include "experiment/front.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "policy/registry.h"

namespace almanac::experiment {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Policies "x,y" of a grid; a neighbour is one step away.
struct Grid {
  int side = 0;
  std::map<std::string, std::vector<double>> values{};
  std::map<std::string, std::uint64_t> unended{};

  static std::string name(int x, int y) { return std::to_string(x) + "," + std::to_string(y); }
  std::vector<std::string> neighbours(const std::string& of) const {
    const int x = std::stoi(of);
    const int y = std::stoi(of.substr(of.find(',') + 1));
    std::vector<std::string> made;
    for (const auto& [dx, dy] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
      if (values.contains(name(x + dx, y + dy))) made.push_back(name(x + dx, y + dy));
    }
    return made;
  }
  Result<Front> search(const std::vector<std::string>& start, std::size_t budget) const {
    return search_front(
        start,
        [&](const std::vector<std::string>& policies) {
          std::vector<std::optional<Judged>> made;
          for (const std::string& each : policies) {
            const auto left = unended.find(each);
            made.emplace_back(Judged{values.at(each), left == unended.end() ? 0 : left->second});
          }
          return Result<decltype(made)>(made);
        },
        [&](const std::string& policy) { return neighbours(policy); }, budget);
  }
  /// The policies that no other one dominates.
  std::vector<std::string> enumerate() const {
    std::vector<std::string> made;
    for (const auto& [policy, own] : values) {
      const bool is_beaten = std::any_of(values.begin(), values.end(), [&](const auto& other) {
        return dominates(other.second, values.at(policy));
      });
      if (!is_beaten) made.push_back(policy);
    }
    return made;
  }
};

std::vector<std::string> members_of(const Front& front) {
  std::vector<std::string> made;
  for (const std::size_t at : front.members) made.push_back(front.tried[at].policy);
  std::sort(made.begin(), made.end());
  return made;
}

TEST(Front, DominatesIfNoWorseAndSomewhereBetter) {
  const std::vector<double> a{1, 2};
  EXPECT_TRUE(dominates(a, std::vector<double>{1, 3}));
  EXPECT_FALSE(dominates(a, a));
  EXPECT_FALSE(dominates(a, std::vector<double>{0, 9}));
}

TEST(Front, EqualsEnumerationWhereAllPoliciesAreGiven) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    Grid grid{.side = 6};
    std::vector<std::string> all;
    for (int x = 0; x < grid.side; ++x) {
      for (int y = 0; y < grid.side; ++y) {
        all.push_back(Grid::name(x, y));
        // Fractions of a large number: no two are alike.
        grid.values[all.back()] = {rng.uniform(), rng.uniform(), rng.uniform()};
      }
    }
    const auto front = grid.search(all, 0);
    ASSERT_TRUE(front);
    EXPECT_EQ(members_of(*front), grid.enumerate());
    EXPECT_TRUE(front->is_exhausted);
  }
}

TEST(Front, EqualsEnumerationWhereEachPartHasItsOwnEffect) {
  // x costs time and saves energy, y costs both: the front is y = 0.
  Grid grid{.side = 8};
  for (int x = 0; x < grid.side; ++x) {
    for (int y = 0; y < grid.side; ++y) {
      grid.values[Grid::name(x, y)] = {1.0 + x + 10 * y, 20.0 - 2 * x + y};
    }
  }
  const auto front = grid.search({"7,7"}, 1000);
  ASSERT_TRUE(front);
  EXPECT_EQ(members_of(*front), grid.enumerate());
  EXPECT_EQ(front->members.size(), 8U);
  EXPECT_TRUE(front->is_exhausted);
  EXPECT_LT(front->tried.size(), 64U) << "not everything was tried";
}

TEST(Front, StopsAtItsBudgetAndSaysSo) {
  Grid grid{.side = 8};
  for (int x = 0; x < grid.side; ++x) {
    for (int y = 0; y < grid.side; ++y) grid.values[Grid::name(x, y)] = {1.0 * x, 7.0 - x};
  }
  const auto front = grid.search({"0,0"}, 5);
  ASSERT_TRUE(front);
  EXPECT_EQ(front->tried.size(), 6U);
  EXPECT_FALSE(front->is_exhausted);
}

TEST(Front, TheKneeGivesUpLeastOfEverything) {
  Grid grid{.side = 3};
  grid.values = {{"0,0", {0, 100}}, {"1,0", {10, 10}}, {"2,0", {100, 0}}, {"0,1", {50, 50}}};
  const auto front = grid.search({"0,0", "1,0", "2,0", "0,1"}, 0);
  ASSERT_TRUE(front);
  EXPECT_EQ(members_of(*front), (std::vector<std::string>{"0,0", "1,0", "2,0"}));
  ASSERT_TRUE(front->knee);
  EXPECT_EQ(front->tried[*front->knee].policy, "1,0");
}

TEST(Front, AnObjectiveInWhichAllAreAlikeDoesNotDecideTheKnee) {
  // Almost equal energy must not outweigh a wait that is half as long.
  Grid grid{.side = 3};
  grid.values = {
      {"0,0", {43, 85, 38298.4}}, {"1,0", {89, 216, 38297.6}}, {"2,0", {42, 90, 38298.0}}};
  const auto front = grid.search({"0,0", "1,0", "2,0"}, 0);
  ASSERT_TRUE(front);
  ASSERT_TRUE(front->knee);
  EXPECT_NE(front->tried[*front->knee].policy, "1,0");
}

TEST(Front, MeansOverFewerJobsBeatNoOthers) {
  // "0,0" would win, but two of its jobs never end.
  Grid grid{.side = 2};
  grid.values = {{"0,0", {1, 1}}, {"1,0", {5, 6}}, {"0,1", {6, 5}}};
  grid.unended = {{"0,0", 2}};
  const auto front = grid.search({"0,0", "1,0", "0,1"}, 0);
  ASSERT_TRUE(front);
  EXPECT_EQ(members_of(*front), (std::vector<std::string>{"0,1", "1,0"}));
}

TEST(Front, MembersThatAreAlikeAreShownOnce) {
  Grid grid{.side = 4};
  grid.values = {{"0,0", {100, 50}}, {"1,0", {101, 49.9}}, {"2,0", {150, 40}}, {"3,0", {200, 10}}};
  const auto front = grid.search({"0,0", "1,0", "2,0", "3,0"}, 0);
  ASSERT_TRUE(front);
  EXPECT_EQ(front->members.size(), 4U);
  std::vector<std::string> shown;
  for (const std::size_t at : representatives(*front)) {
    shown.push_back(front->tried[at].policy);
  }
  EXPECT_THAT(shown, ElementsAre("0,0", "2,0", "3,0"));
}

TEST(Front, ThereIsNoKneeWhereEachGivesUpMostOfSomething) {
  Grid grid{.side = 2};
  grid.values = {{"0,0", {0, 100}}, {"1,0", {9, 91}}, {"0,1", {95, 4}}, {"1,1", {100, 0}}};
  const auto front = grid.search({"0,0", "1,0", "0,1", "1,1"}, 0);
  ASSERT_TRUE(front);
  EXPECT_EQ(front->members.size(), 4U);
  EXPECT_FALSE(front->knee);
}

TEST(Front, ObjectivesAreReadByName) {
  const auto two = parse_objectives("wait,worst_user");
  ASSERT_TRUE(two);
  EXPECT_EQ((*two)[1].title, "worst user's mean wait");
  EXPECT_EQ(parse_objectives("wait").error().message, "--pareto needs two objectives or more");
  EXPECT_EQ(parse_objectives("wait,wait").error().message, "--pareto names wait twice");
  EXPECT_EQ(parse_objectives("wait,enrgy").error().hint, "did you mean energy?");
}

TEST(Front, CarbonAndCostAreThoseOfJobs) {
  // Waiting for clean hours halves what jobs emit, and lets idle nodes draw power for longer.
  Summary at_once;
  at_once.kg_co2 = 10;
  at_once.jobs_kg_co2 = 8;
  Summary waits;
  waits.kg_co2 = 11;
  waits.jobs_kg_co2 = 4;
  const auto both = parse_objectives("carbon,cost");
  ASSERT_TRUE(both);
  EXPECT_LT((*both)[0].of(waits), (*both)[0].of(at_once));
  at_once.cost = 3;
  at_once.jobs_cost = 2;
  EXPECT_EQ((*both)[1].of(at_once), 2);
}

TEST(Front, NeighboursDifferInOnePart) {
  const auto made = neighbours_of("fifo", {"fifo", "easy"});
  EXPECT_THAT(made, Contains("easy"));
  EXPECT_THAT(made, Contains("fifo+best_fit"));
  EXPECT_THAT(made, Not(Contains(HasSubstr("oracle"))));
  for (const std::string& each : made) {
    const auto composition = policy::registry().compose(each);
    ASSERT_TRUE(composition) << each;
    EXPECT_FALSE(policy::registry().traits(*composition).has(policy::Trait::told_truth)) << each;
    EXPECT_FALSE(policy::registry().traits(*composition).has(policy::Trait::reads_deadlines))
        << each;
  }
  EXPECT_THAT(neighbours_of("fifo", {"fifo", "genie"}), Contains("fifo+edf"));
  EXPECT_THAT(neighbours_of("tiresias", {"tiresias"}), IsEmpty()) << "a whole policy";
}

TEST(Front, NeighboursHaveOtherParametersToo) {
  EXPECT_THAT(neighbours_of("las", {"las"}), Contains(StartsWith("las+")));
}

}  // namespace
}  // namespace almanac::experiment
