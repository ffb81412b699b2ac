// SPDX-License-Identifier: Apache-2.0
#include "cluster/cells/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/cells/example.h"

namespace almanac::cells {
namespace {

using What = Decision::What;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Two nodes, of which A owns one and B two pairs, so the other.
Layout two_owners() { return example(2, {owns("A", "NODE", 1), owns("B", "PAIR", 2)}); }

Scheduler scheduler(const Layout& layout) { return Scheduler(std::move(*build(layout))); }

Request one_pod(std::string group, std::string vc, int priority, int leaves, bool lazy = false) {
  return {.group = std::move(group),
          .vc = std::move(vc),
          .priority = priority,
          .lazy = lazy,
          .leaf_type = "GPU",
          .members = {{1, leaves}}};
}

Decision ask(Scheduler& scheduler, const Request& request) {
  Decision decision = scheduler.decide(request, scheduler.everywhere());
  if (decision.what == What::bind) scheduler.allocate(request, decision);
  return decision;
}

std::string place(const Decision& decision) {
  std::string text;
  if (decision.what != What::bind) return "none";
  for (const Pod& pod : decision.pods) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", pod.node, fmt::join(pod.leaves, "-"));
  }
  return text;
}

TEST(Scheduler, SplitsACellOnceAndFillsIt) {
  Scheduler hived = scheduler(two_owners());
  EXPECT_EQ(place(ask(hived, one_pod("b1", "B", 0, 2))), "n0:0-1");
  EXPECT_EQ(place(ask(hived, one_pod("b2", "B", 0, 1))), "n0:2");  // leaves a whole node to A
  EXPECT_EQ(place(ask(hived, one_pod("b3", "B", 0, 2))), "none");  // its own job is in the way
  EXPECT_EQ(place(ask(hived, one_pod("a1", "A", 0, 4))), "n1:0-1-2-3");
  hived.release("b1");
  EXPECT_EQ(place(ask(hived, one_pod("b4", "B", 0, 2))), "n0:0-1");
}

TEST(Scheduler, MergesWhatIsReleased) {
  Scheduler hived = scheduler(two_owners());
  ask(hived, one_pod("b1", "B", 0, 2));
  ask(hived, one_pod("b2", "B", 0, 2));
  EXPECT_EQ(hived.pools()[0].free()[3].size(), 1);
  hived.release("b1");
  EXPECT_EQ(hived.pools()[0].free()[2].size(), 1);
  hived.release("b2");
  EXPECT_THAT(hived.pools()[0].free()[2], IsEmpty());
  EXPECT_EQ(hived.pools()[0].free()[3].size(), 2);
}

TEST(Scheduler, PlacesAGangWholeOrNotAtAll) {
  Scheduler hived = scheduler(example(2, {owns("A", "NODE", 2)}));
  Request gang = one_pod("gang", "A", 0, 1);
  gang.members = {{1, 4}, {2, 1}};
  EXPECT_EQ(place(ask(hived, gang)), "n0:0 n0:1 n1:0-1-2-3");
  gang.group = "second";
  EXPECT_EQ(ask(hived, gang).what, What::wait);
  EXPECT_EQ(hived.find("second"), nullptr);
}

TEST(Scheduler, OpportunisticJobsGiveWayOnlyWhereTheyMust) {
  Scheduler hived = scheduler(two_owners());
  EXPECT_EQ(place(ask(hived, one_pod("guest", "B", kOpportunistic, 4))), "n0:0-1-2-3");
  EXPECT_EQ(place(ask(hived, one_pod("a", "A", 0, 4))), "n1:0-1-2-3");
  const Request owner = one_pod("b", "B", 0, 2);
  const Decision first = ask(hived, owner);
  EXPECT_EQ(first.what, What::preempt);
  EXPECT_THAT(first.victims, ElementsAre("guest"));
  hived.release("guest");
  EXPECT_EQ(place(ask(hived, owner)), "n0:0-1");
  EXPECT_EQ(place(ask(hived, one_pod("late", "A", kOpportunistic, 2))), "n0:2-3");
}

TEST(Scheduler, DemotesInPlaceWhereThereIsRoom) {
  Scheduler hived = scheduler(two_owners());
  EXPECT_EQ(place(ask(hived, one_pod("low", "A", 0, 4, true))), "n0:0-1-2-3");
  const Decision high = ask(hived, one_pod("high", "A", 1, 4));
  EXPECT_EQ(place(high), "n1:0-1-2-3");
  EXPECT_THAT(high.demoted, ElementsAre("low"));
  EXPECT_TRUE(hived.find("low")->demoted);
  // It is a guest now, in what B owns.
  EXPECT_THAT(ask(hived, one_pod("b", "B", 0, 1)).victims, ElementsAre("low"));
}

TEST(Scheduler, TakesDemotionsBackThatWereInVain) {
  Scheduler hived = scheduler(example(4, {owns("A", "RACK", 2, "RACK")}, 2));
  Request rack = one_pod("rack", "A", 0, 4, true);
  rack.members = {{2, 4}};
  EXPECT_EQ(place(ask(hived, rack)), "n0:0-1-2-3 n1:0-1-2-3");
  EXPECT_EQ(place(ask(hived, one_pod("node", "A", 0, 4, true))), "n2:0-1-2-3");
  Request all = one_pod("all", "A", 1, 4);
  all.members = {{4, 4}};
  EXPECT_EQ(hived.decide(all, {true, true, true, false}).what, What::wait);
  EXPECT_FALSE(hived.find("rack")->demoted);
  EXPECT_FALSE(hived.find("node")->demoted);
  EXPECT_THAT(hived.decide(all, hived.everywhere()).demoted, ElementsAre("rack", "node"));
}

TEST(Scheduler, AHigherPreemptorTakesOver) {
  Scheduler hived = scheduler(example(1, {owns("A", "NODE", 1)}));
  ask(hived, one_pod("low", "A", 0, 4));
  const Request middle = one_pod("middle", "A", 1, 4);
  EXPECT_THAT(ask(hived, middle).victims, ElementsAre("low"));
  EXPECT_TRUE(hived.find("middle")->preempting);
  EXPECT_EQ(ask(hived, one_pod("other", "A", 1, 1)).what, What::wait);
  EXPECT_THAT(ask(hived, one_pod("high", "A", 2, 4)).victims, ElementsAre("low"));
  EXPECT_EQ(hived.find("middle"), nullptr);
  hived.release("high");  // gives up before its victim has gone
  EXPECT_FALSE(hived.find("low")->preempting);
  EXPECT_EQ(ask(hived, one_pod("again", "A", 0, 1)).what, What::wait);
  hived.release("low");
  EXPECT_EQ(place(ask(hived, one_pod("last", "A", 0, 4))), "n0:0-1-2-3");
}

TEST(Scheduler, AVirtualClusterSeesThatItsCellsAreDoomed) {
  Scheduler hived = scheduler(two_owners());
  hived.set_healthy(hived.cluster().find_node("n0"), false);
  const Request b = one_pod("b", "B", 0, 1);
  EXPECT_TRUE(hived.fits(b));
  EXPECT_EQ(place(ask(hived, one_pod("a", "A", 0, 4))), "n1:0-1-2-3");
  EXPECT_FALSE(hived.fits(b));
  EXPECT_EQ(ask(hived, b).what, What::wait);
  hived.set_healthy(hived.cluster().find_node("n0"), true);
  EXPECT_TRUE(hived.fits(b));
  EXPECT_EQ(place(ask(hived, b)), "n0:0");
}

TEST(Scheduler, KeepsToAPinnedCell) {
  Layout layout = example(2, {owns("A", "NODE", 1), {.vc = "B", .pinned = "mine"}});
  layout.places[0].pinned = "mine";
  Scheduler hived = scheduler(layout);
  EXPECT_EQ(place(ask(hived, one_pod("a", "A", 0, 4))), "n1:0-1-2-3");
  Request b = one_pod("b", "B", 0, 2);
  b.pinned = "mine";
  EXPECT_EQ(place(ask(hived, b)), "n0:0-1");
  EXPECT_EQ(ask(hived, one_pod("c", "B", 0, 2)).what, What::refuse);
}

TEST(Scheduler, TakesOverAfterARestart) {
  const Request request = one_pod("a", "A", 0, 4);
  Scheduler before = scheduler(two_owners());
  const Decision decision = ask(before, request);
  Scheduler same = scheduler(two_owners());
  same.allocate(request, decision);
  EXPECT_FALSE(same.find("a")->demoted);
  EXPECT_FALSE(same.fits(one_pod("more", "A", 0, 1)));
  Scheduler poorer = scheduler(example(2, {owns("B", "NODE", 1), owns("A", "PAIR", 2)}));
  poorer.allocate(request, decision);
  EXPECT_TRUE(poorer.find("a")->demoted);  // A owns no node any more
  EXPECT_TRUE(poorer.fits(one_pod("more", "A", 0, 1)));
}

TEST(Scheduler, RefusesWhatCanNeverBe) {
  Scheduler hived = scheduler(two_owners());
  EXPECT_EQ(ask(hived, one_pod("x", "C", 0, 1)).why, "there is no virtual cluster C");
  EXPECT_EQ(ask(hived, one_pod("x", "A", kMostGuaranteed + 1, 1)).what, What::refuse);
  Request other = one_pod("x", "A", 0, 1);
  other.leaf_type = "TPU";
  EXPECT_EQ(ask(hived, other).why, "there is no leaf of type TPU");
  other.members.clear();
  EXPECT_EQ(ask(hived, other).what, What::refuse);
}

}  // namespace
}  // namespace almanac::cells
