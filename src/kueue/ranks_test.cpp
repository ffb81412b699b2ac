// SPDX-License-Identifier: Apache-2.0
#include "kueue/ranks.h"

#include <array>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::kueue {
namespace {

using testing::Each;
using testing::ElementsAre;

/// `created_s` in the order of the line that is wanted.
std::vector<Ranked> line_created(const std::vector<int>& created_s) {
  std::vector<Ranked> made;
  for (const int each : created_s) {
    made.push_back({.created = Time{std::chrono::seconds(each)}, .uid = "u"});
  }
  return made;
}

TEST(RanksTest, NothingChangesWhereKueueHasTheSameOrder) {
  EXPECT_THAT(ranks_of(line_created({1, 2, 3, 4, 5, 6, 7})), Each(0));
  EXPECT_THAT(ranks_of(line_created({1})), ElementsAre(0));
  EXPECT_THAT(ranks_of({}), ElementsAre());
}

TEST(RanksTest, TheFirstFourAndFifteenShareARank) {
  // The last that was created is to be first, and so on.
  std::vector<int> created;
  for (int at = 22; at > 0; --at) created.push_back(at);
  const auto ranks = ranks_of(line_created(created));
  EXPECT_EQ(ranks[0], 3);
  EXPECT_EQ(ranks[1], 2);
  EXPECT_EQ(ranks[4], 2);
  EXPECT_EQ(ranks[5], 1);
  EXPECT_EQ(ranks[19], 1);
  EXPECT_EQ(ranks[20], 0);
}

// One newcomer that is to be first costs one change: the others are in order behind it.
TEST(RanksTest, ANewcomerCostsOneChange) {
  std::vector<int> created{100};
  for (int at = 1; at < 22; ++at) created.push_back(at);
  std::vector<std::int64_t> ranks = ranks_of(line_created(created));
  EXPECT_EQ(ranks[0], 3);
  ranks.erase(ranks.begin());
  EXPECT_THAT(ranks, Each(0));
}

// The former first is behind a newcomer that has the same rank: it gets the next lower one.
TEST(RanksTest, AFormerFirstMakesRoom) {
  std::vector<Ranked> line = line_created({9, 8, 1});
  line[1].rank = 3;
  EXPECT_THAT(ranks_of(line), ElementsAre(3, 2, 0));
}

// The order within a band does not matter: 3 and 2 are both among the second to fifth.
TEST(RanksTest, ABandKeepsKueuesOrder) { EXPECT_THAT(ranks_of(line_created({1, 3, 2})), Each(0)); }

TEST(RanksTest, RanksStayAsLongAsTheyDoWhatTheyShould) {
  std::vector<Ranked> line = line_created({9, 1, 2});
  line[0].rank = 3;
  EXPECT_THAT(ranks_of(line), ElementsAre(3, 0, 0));
}

// Bands of a strict queue: the first two start now, the third is the head. The older fourth would
// pass both bands.
TEST(RanksTest, BandsMayEndElsewhere) {
  const std::array<std::size_t, 2> ends{2, 3};
  EXPECT_THAT(ranks_of(line_created({8, 9, 5, 1}), ends), ElementsAre(2, 2, 1, 0));
  EXPECT_THAT(ranks_of(line_created({1, 2, 5, 3}), ends), ElementsAre(2, 2, 1, 0))
      << "without ranks of their own, the head would pass the first two";
  EXPECT_THAT(ranks_of(line_created({2, 1, 3, 4}), ends), Each(0));
}

TEST(RanksTest, AHigherClassNeedsNoRank) {
  std::vector<Ranked> line = line_created({9, 1});
  line[0].base = 1000;
  EXPECT_THAT(ranks_of(line), ElementsAre(0, 0));
}

TEST(RanksTest, NoNumberIsAbove32Bits) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(ranked_priority(kMost, 3), kMost);
  EXPECT_EQ(ranked_priority(kMost - 1, 1), kMost);
  EXPECT_EQ(ranked_priority(0, 3), 3);
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(ranked_priority(kLeast - 5, 0), kLeast);
}

}  // namespace
}  // namespace almanac::kueue
