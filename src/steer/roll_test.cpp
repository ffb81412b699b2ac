// SPDX-License-Identifier: Apache-2.0
#include "steer/roll.h"

#include <gtest/gtest.h>

namespace almanac::steer {
namespace {

using manager::JobNumber;

manager::Job running(std::uint32_t number, Duration start, int gpus) {
  return {.number = JobNumber{number},
          .partition = "p",
          .state = manager::State::running,
          .start = Time{start},
          .gpus = gpus,
          .holds = {{.node = "g1", .gpu_count = gpus}}};
}

manager::News news(Duration at, std::vector<manager::Job> jobs) {
  return {.at = Time{at}, .jobs = std::move(jobs)};
}

Mirror rolled_site() {
  Mirror made;
  manager::News first = news(1s, {});
  first.nodes = {{.name = "g1", .gpus = 8, .partitions = {"p"}}};
  first.partitions = {{{.name = "p", .nodes = {"g1"}}}};
  made.take(std::move(first));
  return made;
}

std::vector<std::uint32_t> numbers(const std::vector<Roll::Member*>& members) {
  std::vector<std::uint32_t> made;
  for (const Roll::Member* const each : members) {
    made.push_back(static_cast<std::uint32_t>(each->number));
  }
  return made;
}

TEST(Roll, OrdersRunningJobsByStartAndWaitingJobsByNumber) {
  Mirror mirror = rolled_site();
  const auto world = make_world(mirror, Grouping::partitions);
  Roll roll;
  mirror.take(news(2s, {running(4, 20s, 1),
                        running(3, 30s, 1),
                        running(1, 20s, 1),
                        {.number = JobNumber{7}, .partition = "p"},
                        {.number = JobNumber{5}, .partition = "p"}}));
  roll.read(mirror, world);
  EXPECT_EQ(numbers(roll.running()), (std::vector<std::uint32_t>{1, 4, 3}));
  EXPECT_EQ(numbers(roll.waiting()), (std::vector<std::uint32_t>{5, 7}));

  // 5 starts, 4 ends, 6 comes and has started before the others.
  manager::News later = news(3s, {running(5, 25s, 1), running(6, 10s, 1)});
  later.gone = {JobNumber{4}};
  mirror.take(std::move(later));
  roll.read(mirror, world);
  EXPECT_EQ(numbers(roll.running()), (std::vector<std::uint32_t>{6, 1, 5, 3}));
  EXPECT_EQ(numbers(roll.waiting()), (std::vector<std::uint32_t>{7}));
}

TEST(Roll, KeepsWhatItKnowsUntilTheJobChanges) {
  Mirror mirror = rolled_site();
  const auto world = make_world(mirror, Grouping::partitions);
  Roll roll;
  mirror.take(news(2s, {running(1, 1s, 2), running(2, 1s, 1)}));
  roll.read(mirror, world);
  EXPECT_EQ(roll.count_out(false).held(0).front().count(), 2);
  for (Roll::Member* const each : roll.running()) each->request.emplace();

  manager::Job longer = running(2, 1s, 1);
  longer.limit = 60s;
  mirror.take(news(3s, {running(1, 1s, 2), longer}));
  roll.read(mirror, world);
  EXPECT_TRUE(roll.running()[0]->request) << "the same job again";
  EXPECT_TRUE(roll.running()[0]->holding);
  EXPECT_FALSE(roll.running()[1]->request) << "its limit is another";

  roll.running()[1]->request.emplace();
  mirror.note({.job = JobNumber{2}, .comment = "moved"});
  roll.read(mirror, world);
  EXPECT_FALSE(roll.running()[1]->request) << "Almanac has changed it";
  roll.read(mirror, make_world(mirror, Grouping::partitions));
  EXPECT_FALSE(roll.running()[0]->request) << "nodes have other numbers in another world";
}

TEST(Roll, KnowsAJobThatHasTheNumberOfAnEarlierOne) {
  Mirror mirror = rolled_site();
  const auto world = make_world(mirror, Grouping::partitions);
  Roll roll;
  mirror.take(news(2s, {running(1, 1s, 2)}));
  roll.read(mirror, world);
  roll.running()[0]->request.emplace();
  manager::News gone = news(3s, {});
  gone.gone = {JobNumber{1}};
  mirror.take(std::move(gone));
  mirror.take(news(4s, {running(1, 3s, 4)}));
  roll.read(mirror, world);
  ASSERT_EQ(roll.running().size(), 1U);
  EXPECT_FALSE(roll.running()[0]->request);
  EXPECT_EQ(roll.count_out(false).held(0).front().count(), 4);
}

}  // namespace
}  // namespace almanac::steer
