// SPDX-License-Identifier: Apache-2.0
#include "slurm/differences.h"

#include <gtest/gtest.h>

namespace almanac::slurm {
namespace {

Picture picture() {
  Picture made;
  made.jobs = {{.number = JobNumber{1}}, {.number = JobNumber{2}}};
  made.nodes = {{.name = "a"}, {.name = "b"}};
  made.licences = {{.name = "l", .total = 2}};
  return made;
}

TEST(Differences, TellsFirstAllThenWhatDiffers) {
  Differences differences;
  const News first = differences.to(picture());
  EXPECT_TRUE(first.whole);
  EXPECT_EQ(first.jobs.size(), 2U);
  EXPECT_TRUE(first.partitions) << "all there is, though none";

  const News same = differences.to(picture());
  EXPECT_FALSE(same.whole);
  EXPECT_TRUE(same.jobs.empty() && same.gone.empty() && same.nodes.empty());
  EXPECT_FALSE(same.partitions || same.reservations || same.licences);

  Picture next = picture();
  next.jobs = {{.number = JobNumber{2}, .priority = 5}, {.number = JobNumber{3}}};
  next.nodes.pop_back();
  next.licences[0].used = 1;
  const News news = differences.to(next);
  ASSERT_EQ(news.jobs.size(), 2U);
  EXPECT_EQ(news.jobs[0].priority, 5U);
  EXPECT_EQ(news.gone, (std::vector<JobNumber>{JobNumber{1}}));
  EXPECT_EQ(news.lost_nodes, (std::vector<std::string>{"b"}));
  EXPECT_EQ(news.licences->at(0).used, 1);
}

TEST(Differences, AreWholeAgainAfterAFailure) {
  Differences differences;
  differences.to(picture());
  differences.forget();
  const News again = differences.to(picture());
  EXPECT_TRUE(again.whole);
  EXPECT_EQ(again.jobs.size(), 2U);
  EXPECT_TRUE(again.gone.empty());
}

}  // namespace
}  // namespace almanac::slurm
