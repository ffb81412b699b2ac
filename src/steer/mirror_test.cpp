// SPDX-License-Identifier: Apache-2.0
#include "steer/mirror.h"

#include <gtest/gtest.h>

#include "steer/record.h"
#include "steer/world.h"

namespace almanac::steer {
namespace {

manager::Job job(std::uint32_t number, manager::State state = manager::State::pending) {
  return {.number = manager::JobNumber{number}, .state = state};
}

manager::Node node(const std::string& name, const std::string& partition) {
  return {.name = name, .gpus = 8, .partitions = {partition}};
}

TEST(Mirror, TellsOfEachEndOnce) {
  Mirror mirror;
  mirror.take({.at = Time{1s}, .whole = true, .jobs = {job(1), job(2), job(3)}});
  auto made = mirror.take({.at = Time{2s}, .jobs = {job(1, manager::State::ended)}});
  EXPECT_EQ(made.ended.size(), 1U);
  made = mirror.take({.at = Time{3s}, .jobs = {job(1, manager::State::ended)}});
  EXPECT_TRUE(made.ended.empty());
  EXPECT_FALSE(made.anything);
  made = mirror.take({.at = Time{4s}, .gone = {manager::JobNumber{1}, manager::JobNumber{2}}});
  ASSERT_EQ(made.ended.size(), 1U) << "one vanished without a word";
  EXPECT_EQ(made.ended.front().end, Time{4s});
  made = mirror.take({.at = Time{5s}, .whole = true, .jobs = {job(4)}});
  EXPECT_EQ(made.ended.size(), 1U) << "what is not mentioned is not there";
  EXPECT_EQ(mirror.jobs().size(), 1U);
}

TEST(Mirror, TakesNoJobForAnotherOfItsNumber) {
  Mirror mirror;
  const auto first = [](Time submit, int restarts, const std::string& user) {
    manager::Job made = job(1);
    made.submit = submit;
    made.restarts = restarts;
    made.user = user;
    return made;
  };
  mirror.take({.at = Time{1h}, .whole = true, .jobs = {first(Time{1min}, 0, "ann")}});
  auto made = mirror.take({.at = Time{2h}, .jobs = {first(Time{61min}, 1, "ann")}});
  EXPECT_TRUE(made.ended.empty()) << "it was requeued";
  EXPECT_EQ(made.requeued, 1U);
  // Slurm has lost its state, and gives numbers from the first one on.
  made = mirror.take({.at = Time{3h}, .whole = true, .jobs = {first(Time{121min}, 0, "bob")}});
  ASSERT_EQ(made.ended.size(), 1U);
  EXPECT_EQ(made.ended.front().user, "ann");
  EXPECT_EQ(made.came, 1U);
  EXPECT_EQ(mirror.find(manager::JobNumber{1})->user, "bob");
}

TEST(Mirror, KnowsWhatItWroteBeforeTheControllerTells) {
  Mirror mirror;
  mirror.take({.at = Time{1s}, .whole = true, .jobs = {job(1)}});
  mirror.note({.job = manager::JobNumber{1}, .site_factor = 9});
  EXPECT_EQ(mirror.find(manager::JobNumber{1})->site_factor, 9);
}

TEST(World, MakesOneOfPartitionsThatShareNodes) {
  Mirror mirror;
  manager::News news{.at = Time{1s}, .whole = true};
  for (const char* name : {"a1", "a2", "b1", "c1", "alone"}) news.nodes.push_back(node(name, ""));
  news.partitions = {{{.name = "red", .nodes = {"a1", "a2"}},
                      {.name = "blue", .nodes = {"b1"}},
                      {.name = "both", .nodes = {"a2", "c1"}}}};
  mirror.take(news);
  const auto world = make_world(mirror, Grouping::partitions);
  ASSERT_EQ(world->cluster.vcs.size(), 2U);
  EXPECT_EQ(world->cluster.vcs[0].name, "red+both");
  EXPECT_EQ(world->cluster.vcs[0].num_nodes, 3U);
  EXPECT_EQ(world->cluster.vcs[1].name, "blue");
  EXPECT_EQ(world->vc_of("unknown,both"), VcId{0});
  EXPECT_EQ(world->vc_of("unknown"), kNoVc);
  EXPECT_EQ(world->node("alone"), kNoNode);
  const auto all = make_world(mirror, Grouping::all);
  ASSERT_EQ(all->cluster.vcs.size(), 1U);
  EXPECT_EQ(all->cluster.vcs[0].num_nodes, 4U);
}

TEST(Record, CountsTheTasksOfAnArray) {
  EXPECT_EQ(count_tasks("3-9%2").count, 7);
  EXPECT_EQ(count_tasks("3-9%2").at_once, 2);
  EXPECT_EQ(count_tasks("1,4,10-20:5").count, 5);
  EXPECT_EQ(count_tasks("1,4,10-20:5").at_once, 0);
  EXPECT_EQ(count_tasks("").count, 1);
  EXPECT_EQ(count_tasks("what").count, 1);
}

}  // namespace
}  // namespace almanac::steer
