// SPDX-License-Identifier: Apache-2.0
#include "text/nearest.h"

#include <vector>

#include <gtest/gtest.h>

namespace almanac::text {
namespace {

const std::vector<std::string> kKnown{"fifo", "sjf", "srtf", "qssf", "tiresias"};

TEST(EditDistance, CountsInsertionsDeletionsAndChanges) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("same", "same"), 0U);
}

TEST(Nearest, FindsWhatWasMeant) {
  EXPECT_EQ(nearest("qsff", kKnown), "qssf");
  EXPECT_EQ(nearest("FIFO", kKnown), "fifo");
  EXPECT_EQ(nearest("fiof", kKnown), "fifo") << "two letters exchanged are one slip";
  EXPECT_EQ(nearest("tiresas", kKnown), "tiresias");
}

TEST(Nearest, DoesNotGuessWildly) {
  EXPECT_EQ(nearest("gandiva", kKnown), "");
  EXPECT_EQ(nearest("", {}), "");
  EXPECT_EQ(did_you_mean("gandiva", kKnown), "");
}

TEST(DidYouMean, IsAQuestion) { EXPECT_EQ(did_you_mean("sjff", kKnown), "did you mean sjf?"); }

TEST(MeantOrKnown, ListsAllWhereNothingIsNear) {
  const std::vector<std::string> known{"fifo", "sjf"};
  EXPECT_EQ(meant_or_known("sjff", known), "did you mean sjf?");
  EXPECT_EQ(meant_or_known("gandiva", known), "known: fifo, sjf");
}

TEST(MeantOrKnown, NamesTheMostSimilarOfManyNames) {
  std::vector<std::string> known;
  for (int at = 0; at < 20; ++at)
    known.push_back("queue-" + std::string(1, static_cast<char>('a' + at)));
  known.push_back("research");
  EXPECT_EQ(meant_or_known("searching", known), "the most similar of 21 names: research");
  EXPECT_EQ(meant_or_known("queue-abcdef", known).find("the most similar of 21 names: queue-a, "),
            0U);
  EXPECT_LT(meant_or_known("queue-abcdef", known).size(), 150U);
}

TEST(MeantOrKnown, DoesNotCallUnlikeNamesSimilar) {
  std::vector<std::string> known;
  for (char at = 'a'; at <= 'n'; ++at) known.push_back("queue-" + std::string(1, at));
  EXPECT_EQ(meant_or_known("xyz", known),
            "14 names are known, the first: queue-a, queue-b, queue-c, queue-d, queue-e, queue-f, "
            "queue-g, queue-h, queue-i, queue-j, queue-k, queue-l");
  EXPECT_EQ(meant_or_known("xyz", {}), "none are known");
}

}  // namespace
}  // namespace almanac::text
