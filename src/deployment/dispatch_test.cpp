// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which batches of requests with deadlines run: cases by hand, and against the best that can be.
#include "deployment/dispatch.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "deployment/herd.h"
#include "deployment/registry.h"
#include "deployment/task_run.h"

namespace almanac::deployment {
namespace {

/// Requests sorted by arrival.
class Listed final : public RequestSource {
 public:
  explicit Listed(const std::vector<TimedRequest>& requests) : requests_(requests) {}
  double next_ms() const override {
    return next_ < requests_.size() ? requests_[next_].arrival_ms
                                    : std::numeric_limits<double>::infinity();
  }
  std::vector<TimedRequest> take() override { return {requests_[next_++]}; }
  std::optional<TimedRequest> hear(std::size_t, double) override { return std::nullopt; }

 private:
  const std::vector<TimedRequest>& requests_;
  std::size_t next_ = 0;
};

DispatchedRun played(const std::string& name, const std::vector<Variant>& variants,
                     const std::vector<TimedRequest>& requests, int gpus = 1) {
  const auto dispatcher = registry().dispatchers.find(name)->make();
  Listed listed(requests);
  return play_dispatched(variants, listed, gpus, *dispatcher);
}

Variant batching(double fixed_ms, double item_ms) {
  return {.name = "one", .task = "see", .fixed_ms = fixed_ms, .item_ms = item_ms, .most_batch = 16};
}

TEST(Shepherd, StopsABatchForOneThatIsThreeTimesAsLarge) {
  const std::vector<Variant> variants{batching(100, 0), batching(10, 0)};
  // One request of 100 ms runs when others come that would be late after it.
  std::vector<TimedRequest> requests{{0, 400, 0}};
  for (int each = 0; each < 3; ++each) requests.push_back({20, 60, 1});
  const DispatchedRun three = played("shepherd", variants, requests);
  EXPECT_EQ(three.preempted, 0U);  // 3 < 3.03
  EXPECT_EQ(three.in_time, 1U);
  requests.push_back({20, 60, 1});
  const DispatchedRun four = played("shepherd", variants, requests);
  EXPECT_EQ(four.preempted, 1U);
  EXPECT_EQ(four.in_time, 5U);  // the stopped batch runs again, from 30 to 130 ms
  EXPECT_EQ(four.finish_ms[0], 130);
  EXPECT_EQ(four.busy_ms, 20 + 10 + 100);
}

TEST(Shepherd, LeavesOutThoseWhoseDeadlineWouldMakeTheBatchSmall) {
  const std::vector<Variant> variants{batching(10, 10)};
  // A batch of 3 takes 40 ms, which the first does not wait for; of 4 takes 50.
  const DispatchedRun run =
      played("shepherd", variants, {{0, 25, 0}, {0, 45, 0}, {0, 45, 0}, {0, 45, 0}});
  EXPECT_EQ(run.in_time, 3U);
  EXPECT_EQ(run.finish_ms[1], 40);
}

TEST(EarliestStart, RunsTheModelThatMustStartSoonestInTheLargestBatchInTime) {
  const std::vector<Variant> variants{batching(10, 0), batching(10, 5)};
  const DispatchedRun run =
      played("earliest_start", variants, {{0, 100, 0}, {0, 35, 1}, {0, 60, 1}, {0, 60, 1}});
  // Two of the second model take 20 ms and may start at 15 ms; the third of it goes after them.
  EXPECT_EQ(run.finish_ms[1], 20);
  EXPECT_EQ(run.finish_ms[2], 20);
  EXPECT_EQ(run.finish_ms[3], 35);
  EXPECT_EQ(run.finish_ms[0], 45);
  EXPECT_EQ(run.in_time, 4U);
}

/// A model of 6 GiB that takes 50 ms to load.
Variant loaded(double fixed_ms, double item_ms) {
  Variant made = batching(fixed_ms, item_ms);
  made.memory_gib = 6;
  made.load_s = 0.05;
  return made;
}

DispatchedRun played_in(double gib, const std::string& name, const std::vector<Variant>& variants,
                        const std::vector<TimedRequest>& requests) {
  const auto dispatcher = registry().dispatchers.find(name)->make();
  Listed listed(requests);
  return play_dispatched(variants, listed, 1, *dispatcher, {.gib = gib});
}

TEST(Clockwork, LoadsAModelWhereOneThatRunsNoMoreMakesRoom) {
  const std::vector<Variant> two{loaded(5, 5), loaded(5, 5)};
  const std::vector<TimedRequest> requests{{0, 200, 0}, {1, 300, 1}};
  // Room for one of 6 GiB: the second is loaded when the first has run, from 60 to 110.
  const auto one = played_in(10, "earliest_start", two, requests);
  EXPECT_EQ(one.finish_ms, (std::vector<double>{60, 120}));
  EXPECT_EQ(one.loads, 2);
  // Room for both: it is loaded after the first, from 50 to 100, while that computes.
  EXPECT_EQ(played_in(12, "earliest_start", two, requests).finish_ms,
            (std::vector<double>{60, 110}));
}

TEST(Clockwork, LoadsTheModelWithTheMostWorkFirst) {
  const std::vector<Variant> two{loaded(5, 5), loaded(5, 5)};
  // One request of the first, 10 ms; three of the second, 20 ms, in batches of 2 and 1.
  const std::vector<TimedRequest> requests{{0, 150, 0}, {0, 200, 1}, {0, 200, 1}, {0, 200, 1}};
  EXPECT_EQ(played_in(10, "earliest_start", two, requests).finish_ms,
            (std::vector<double>{135, 65, 65, 75}));
  // A dispatcher without a rule of its own: the earliest deadline first.
  EXPECT_EQ(played_in(10, "nanily", two, requests).finish_ms,
            (std::vector<double>{60, 130, 130, 130}));
}

TEST(Clockwork, LoadsWhatTheGpusThatHoldAModelDoNotGetDone) {
  std::vector<Variant> two{loaded(0, 10), loaded(0, 10)};
  for (Variant& each : two) each.most_batch = 1;
  const auto dispatcher = registry().dispatchers.find("earliest_start")->make();
  const std::vector<std::vector<bool>> held{{true, false}, {false, false}};
  const auto next = [&](std::size_t first, std::size_t second) {
    const std::vector<std::vector<Queued>> queues{std::vector<Queued>(first),
                                                  std::vector<Queued>(second)};
    return dispatcher->load(
        {.now_ms = 0, .gpu = 1, .variants = two, .queues = queues, .held = held});
  };
  // The first GPU does 100 of the 300 ms of the first model. 200 ms are more than 50 ms.
  EXPECT_EQ(next(30, 5), 0);
  // Of 120 ms 20 are left.
  EXPECT_EQ(next(12, 5), 1);
  EXPECT_EQ(next(10, 0), std::nullopt);
}

TEST(Trims, ReadsFromDiskWhatTheHostHasNot) {
  std::vector<Variant> three(3, loaded(5, 5));
  for (Variant& each : three) each.disk_s = 0.2;
  // One at a time fits on the GPU, and two in the host. 200 ms from disk, 50 ms from the host and
  // 10 ms of computing.
  const std::vector<TimedRequest> requests{{0, 1e4, 0},    {1000, 1e4, 1}, {2000, 1e4, 0},
                                           {3000, 1e4, 2}, {4000, 1e4, 0}, {5000, 1e4, 1}};
  const auto dispatcher = registry().dispatchers.find("nanily")->make();
  Listed listed(requests);
  const auto run =
      play_dispatched(three, listed, 1, *dispatcher, {.gib = 10, .placed = {}, .host_gib = 12});
  // The third model takes the place of the second, which was loaded before the first.
  EXPECT_EQ(run.finish_ms, (std::vector<double>{260, 1260, 2060, 3260, 4060, 5260}));
  EXPECT_EQ(run.loads, 6);
}

TEST(Herd, BalancesLoadAmongGroupsThatFit) {
  // Two of three models fit on a GPU. With loads of 3, 2 and 1 on four GPUs, the first alone has
  // two of them for 3, the others two for 3: a tolerance of 2/3. Every other grouping has less.
  std::vector<Variant> three(3, loaded(5, 5));
  const std::vector<double> loads{3, 2, 1};
  const auto groups = herd({.variants = three, .loads = loads, .gpus = 4, .gib = 12});
  ASSERT_TRUE(groups);
  ASSERT_EQ(groups->size(), 2);
  EXPECT_EQ((*groups)[0].variants, (std::vector<std::size_t>{0}));
  EXPECT_EQ((*groups)[0].gpus, 2);
  EXPECT_EQ((*groups)[1].variants, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ((*groups)[1].gpus, 2);
  // If all fit, one group is best, for its GPUs share every burst.
  const auto all = herd({.variants = three, .loads = loads, .gpus = 4, .gib = 18});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 1);
  EXPECT_FALSE(herd({.variants = three, .loads = loads, .gpus = 1, .gib = 12}));
}

TEST(Herd, FindsGroupsOfManyModels) {
  // Beyond eight models, by moves: equal models of equal load, three of which fit on a GPU.
  const std::vector<Variant> twelve(12, loaded(5, 5));
  const std::vector<double> loads(12, 1);
  const auto groups = herd({.variants = twelve, .loads = loads, .gpus = 8, .gib = 18});
  ASSERT_TRUE(groups);
  ASSERT_EQ(groups->size(), 4);
  for (const HerdGroup& each : *groups) {
    EXPECT_EQ(each.variants.size(), 3);
    EXPECT_EQ(each.gpus, 2);
  }
}

TEST(Herd, FitsTheLargestModelsFirstIfTheLargestLoadsDoNotFit) {
  // Five models of 4 GiB with much load and five of 6 GiB with little, on five GPUs of 10 GiB. By
  // load the small ones fill two GPUs and half of one, and four large ones need one each.
  std::vector<Variant> ten(10, loaded(5, 5));
  std::vector<double> loads(10, 1);
  for (std::size_t each = 0; each < 5; ++each) {
    ten[each].memory_gib = 4;
    loads[each] = 2;
  }
  const auto groups = herd({.variants = ten, .loads = loads, .gpus = 5, .gib = 10});
  ASSERT_TRUE(groups) << to_string(groups.error());
  EXPECT_EQ(groups->size(), 5);
  const auto none = herd({.variants = ten, .loads = loads, .gpus = 4, .gib = 10});
  ASSERT_FALSE(none);
  EXPECT_NE(to_string(none.error()).find("found no grouping that fits 4 GPUs of 10 GiB"),
            std::string::npos);
}

TEST(Herd, KeepsModelsWhereShepherdNeedsThem) {
  TaskCase told{.gpus = 4, .memory_gib = 12};
  for (const char* task : {"see", "hear", "read"}) {
    told.variants.push_back(loaded(5, 5));
    told.variants.back().name = told.variants.back().task = task;
    told.services.push_back({.task = task, .rate = 20, .slo_ms = 200});
  }
  told.arrivals = poisson_arrivals(told.services, 20, 1);
  const auto run = play_tasks(told, "shepherd", "best");
  ASSERT_TRUE(run) << to_string(run.error());
  EXPECT_EQ(run->loads, 0);
  EXPECT_EQ(run->in_time, run->requests);
  // Loaded as needed, they change places.
  const auto loading = play_tasks(told, "symphony", "best");
  ASSERT_TRUE(loading);
  EXPECT_GE(loading->loads, 3);
  told.variants[0].load_s = 0;
  EXPECT_FALSE(play_tasks(told, "symphony", "best"));
}

TEST(Nanily, BatchesAsManyAsTheTimeOfTheFirstAllows) {
  // 5 + 10 b ms: until 40 ms there is time for three, and the fourth is for the next batch.
  const auto run =
      played("nanily", {batching(5, 10)}, {{0, 40, 0}, {0, 100, 0}, {0, 100, 0}, {0, 100, 0}});
  EXPECT_EQ(run.finish_ms, (std::vector<double>{35, 35, 35, 50}));
  // The model whose request is due first, whatever waits for the other.
  const auto both =
      played("nanily", {batching(5, 10), batching(5, 10)}, {{0, 100, 0}, {0, 100, 0}, {0, 90, 1}});
  EXPECT_EQ(both.finish_ms, (std::vector<double>{40, 40, 15}));
}

TEST(Symphony, WaitsForMoreRequestsUntilOneMoreWouldBeLate) {
  const std::vector<Variant> variants{batching(10, 5)};
  // Three wait at 20 ms. Four would take 30 ms and must start by 30 ms for the first; none comes.
  const std::vector<TimedRequest> requests{{0, 60, 0}, {10, 70, 0}, {20, 80, 0}};
  const DispatchedRun deferred = played("symphony", variants, requests, 2);
  ASSERT_EQ(deferred.finish_ms.size(), 3U);
  for (const double finish_ms : deferred.finish_ms) EXPECT_NEAR(finish_ms, 55, 1e-5);
  EXPECT_NEAR(deferred.busy_ms, 25, 1e-5);
  // Without waiting each runs alone, for 15 ms.
  EXPECT_EQ(played("earliest_start", variants, requests, 2).busy_ms, 45);
}

TEST(Symphony, DoesNotHoldBackABatchThatCannotGrow) {
  std::vector<Variant> variants{batching(10, 5)};
  variants[0].most_batch = 2;
  const DispatchedRun run = played("symphony", variants, {{0, 100, 0}, {0, 100, 0}});
  EXPECT_EQ(run.finish_ms, (std::vector<double>{20, 20}));
}

TEST(Symphony, GivesAnIdleGpuToTheWindowThatEndsFirst) {
  const std::vector<Variant> variants{batching(40, 0), batching(10, 5), batching(10, 5)};
  // The GPU is busy from 0 to 40 ms. The windows of the other two begin at 40 and 35 ms, and end at
  // 45 and 40 ms. There is no time for both.
  const DispatchedRun run = played("symphony", variants, {{0, 40, 0}, {1, 60, 1}, {1, 55, 2}});
  EXPECT_EQ(run.finish_ms[0], 40);
  EXPECT_EQ(run.finish_ms[2], 55);
  EXPECT_EQ(run.in_time, 2U);
}

TEST(Abacus, RunsOperatorsOfOthersBesideTheMostUrgentAsFarAsItAllows) {
  std::vector<Variant> variants{batching(40, 0)};
  variants[0].operators = 4;
  variants[0].knee = 0.5;
  // Two that fill half a GPU each take no longer than one.
  const DispatchedRun half = played("abacus", variants, {{0, 50, 0}, {0, 100, 0}});
  EXPECT_EQ(half.finish_ms[0], 40);
  EXPECT_EQ(half.finish_ms[1], 40);
  // Where each fills it, one operator of the second leaves the first in time, and three come after.
  variants[0].knee = 1;
  const DispatchedRun full = played("abacus", variants, {{0, 50, 0}, {0, 100, 0}});
  EXPECT_EQ(full.finish_ms[0], 50);
  EXPECT_EQ(full.finish_ms[1], 80);
  EXPECT_EQ(full.busy_ms, 80);
}

TEST(Abacus, LetsAQueryEndWhereItBegan) {
  std::vector<Variant> variants{batching(40, 0)};
  variants[0].operators = 4;
  // The second begins next to the first. The other GPU is idle from 30 ms on, but may not take it.
  const DispatchedRun run =
      played("abacus", variants, {{0, 50, 0}, {0, 500, 0}, {0, 300, 0}, {300, 400, 0}}, 2);
  EXPECT_EQ(run.in_time, 4U);
}

TEST(Abacus, KeepsAModelWithAQueryThatBeganUntilThatEnds) {
  std::vector<Variant> three(3, loaded(40, 0));
  for (Variant& each : three) each.operators = 4;
  // Two of 6 GiB fit. They are loaded by 50 and 100 ms, and each runs for 40 ms. From 200 ms on one
  // operator of the second runs beside the first, whose next query then has the GPU until 290 ms.
  // The third model waits from 220 ms on. It must not take the place of the second, whose query
  // could then no longer end in time, but is loaded from 290 ms on in place of the first.
  const std::vector<TimedRequest> requests{{0, 1000, 0},  {0, 1000, 1},  {200, 250, 0},
                                           {200, 375, 1}, {210, 290, 0}, {220, 2000, 2}};
  const auto run = played_in(12, "abacus", three, requests);
  EXPECT_EQ(run.finish_ms, (std::vector<double>{90, 140, 250, 320, 290, 380}));
}

TEST(SpaceTime, RunsTheNextOperatorOfAllModelsAtOnce) {
  // Four operators of 10 ms each. Two queries of different models fill half a GPU each.
  std::vector<Variant> two(2, batching(40, 0));
  for (Variant& each : two) {
    each.operators = 4;
    each.knee = 0.5;
  }
  EXPECT_EQ(played("space_time", two, {{0, 50, 0}, {0, 50, 1}}).finish_ms,
            (std::vector<double>{40, 40}));
  // One that comes at 15 ms joins the third super-kernel, at 20 ms, as the others have two to go.
  EXPECT_EQ(played("space_time", two, {{0, 50, 0}, {15, 100, 1}}).finish_ms,
            (std::vector<double>{40, 60}));
  // Where each fills the GPU, both take 20 ms an operator. The first has time for that only at its
  // last operator, from 30 to 50 ms.
  for (Variant& each : two) each.knee = 1;
  EXPECT_EQ(played("space_time", two, {{0, 50, 0}, {0, 200, 1}}).finish_ms,
            (std::vector<double>{50, 80}));
}

TEST(SpaceTime, BatchesQueriesOfAModelThatHaveComeEquallyFar) {
  // A batch of b takes 10 + 5 b ms, half of it for each of two operators.
  std::vector<Variant> one{batching(10, 5)};
  one[0].operators = 2;
  EXPECT_EQ(played("space_time", one, {{0, 100, 0}, {0, 100, 0}}).finish_ms,
            (std::vector<double>{20, 20}));
  // One operator apart, they are two kernels of 7.5 ms each: one alone, one with the other, 15 ms
  // in all, and one alone.
  EXPECT_EQ(played("space_time", one, {{0, 100, 0}, {1, 100, 0}}).finish_ms,
            (std::vector<double>{22.5, 30}));
}

TEST(Ebird, StartsABatchNextToThoseThatRun) {
  // Four operators of 10 ms; a batch fills half a GPU. Two requests come at 15 ms and start at 20
  // ms as a batch next to the first request's, instead of at 40 ms after it.
  std::vector<Variant> one{batching(40, 0)};
  one[0].operators = 4;
  one[0].knee = 0.5;
  EXPECT_EQ(played("ebird", one, {{0, 100, 0}, {15, 100, 0}, {15, 100, 0}}).finish_ms,
            (std::vector<double>{40, 60, 60}));
  EXPECT_EQ(played("earliest_start", one, {{0, 100, 0}, {15, 100, 0}, {15, 100, 0}}).finish_ms,
            (std::vector<double>{40, 80, 80}));
}

TEST(Ebird, KeepsABatchThatHasBegunGoing) {
  // Each fills the GPU. At 10 ms a request comes that has time for itself alone, until 55 ms. As a
  // super-kernel of space_time it pauses the first. Here both would take 20 ms an operator, too
  // long for it: it is dropped.
  std::vector<Variant> two(2, batching(40, 0));
  for (Variant& each : two) each.operators = 4;
  const std::vector<TimedRequest> requests{{0, 200, 0}, {10, 55, 1}};
  EXPECT_EQ(played("space_time", two, requests).finish_ms, (std::vector<double>{80, 50}));
  const auto kept = played("ebird", two, requests);
  EXPECT_EQ(kept.finish_ms[0], 40);
  EXPECT_EQ(kept.in_time, 1U);
}

TEST(DyBatch, TakesTheModelThatHasUsedTheGpuLeast) {
  std::vector<Variant> two(2, batching(0, 10));
  for (Variant& each : two) each.most_batch = 1;
  std::vector<TimedRequest> requests(4, {0, 1000, 0});
  requests.resize(6, {0, 1000, 1});
  EXPECT_EQ(played("dybatch", two, requests).finish_ms,
            (std::vector<double>{10, 30, 50, 60, 20, 40}));
}

TEST(DyBatch, DividesRequestsForTheLeastMeanSlowdown) {
  const std::vector<TimedRequest> requests{{0, 1000, 0}, {0, 1000, 0}};
  // 10 + 5 b ms: together after 20 ms each; one after the other after 15 and 30.
  EXPECT_EQ(played("dybatch", {batching(10, 5)}, requests).finish_ms,
            (std::vector<double>{20, 20}));
  // 1 + 10 b ms: together after 21 ms each; one after the other after 11 and 22.
  EXPECT_EQ(played("dybatch", {batching(1, 10)}, requests).finish_ms,
            (std::vector<double>{11, 22}));
  // 6 + 10 b ms: two, then one, is 26 twice and 42, 94 in all. One, then two, is 100 in all, one by
  // one 96, and three together 108.
  const std::vector<TimedRequest> three(3, requests[0]);
  EXPECT_EQ(played("dybatch", {batching(6, 10)}, three).finish_ms,
            (std::vector<double>{26, 26, 42}));
}

TEST(DyBatch, KeepsTheFirstOfABatchInTime) {
  EXPECT_EQ(played("dybatch", {batching(10, 5)}, {{0, 18, 0}, {0, 100, 0}}).finish_ms,
            (std::vector<double>{15, 30}));
}

/// Two variants of one task: one that is always right and slow, one that is sure of its answer
/// where that is right, which is three times of four.
TaskCase tried_twice(double rate, double seconds) {
  TaskCase made{.variants = {batching(2, 1), batching(20, 10)},
                .services = {{.task = "see", .rate = rate, .slo_ms = 200}}};
  made.variants[0].name = "quick";
  made.variants[0].accuracy = 0.75;
  made.variants[1].name = "good";
  made.variants[1].accuracy = 1;
  TriedTask tried;
  tried.said.resize(2);
  for (int item = 0; item < 400; ++item) {
    const bool is_hard = item % 4 == 0;
    tried.right.push_back(item % 10);
    tried.said[0].push_back({is_hard ? 99 : item % 10, is_hard ? 0.3 : 0.9});
    tried.said[1].push_back({item % 10, 1});
  }
  made.answers.push_back(std::move(tried));
  made.arrivals = poisson_arrivals(made.services, seconds, 5);
  return made;
}

TEST(Tasks, OfACascadeAskTheBetterVariantForWhatTheFastOneIsNotSureOf) {
  const TaskCase told = tried_twice(8, 100);
  const auto best = play_tasks(told, "earliest_start", "best");
  const auto cascade = play_tasks(told, "earliest_start", "cascade");
  ASSERT_TRUE(best && cascade);
  EXPECT_EQ(best->requests, told.arrivals.size());
  EXPECT_EQ(best->queries, best->requests);
  EXPECT_EQ(cascade->right, cascade->in_time) << "what it is not sure of is wrong";
  EXPECT_NEAR(static_cast<double>(cascade->queries) / static_cast<double>(cascade->requests), 1.25,
              0.05);
  EXPECT_LT(cascade->busy_ms, 0.6 * best->busy_ms);
}

/// Requests that do not meet: the good variant takes 30 ms, the quick one 3 ms. In a cascade three
/// of four are answered after 3 ms, the others after both.
TEST(Tasks, OfACascadeAreAnsweredSooner) {
  TaskCase told = tried_twice(8, 1);
  told.arrivals.clear();
  for (int each = 0; each < 4000; ++each) told.arrivals.push_back({100.0 * each, 0});
  const auto best = play_tasks(told, "earliest_start", "best");
  const auto cascade = play_tasks(told, "earliest_start", "cascade");
  ASSERT_TRUE(best && cascade);
  EXPECT_NEAR(best->latency_ms.mean, 30, 1e-9);
  EXPECT_NEAR(cascade->latency_ms.mean, 0.75 * 3 + 0.25 * 33, 0.5);
  EXPECT_NEAR(cascade->latency_ms.p50, 3, 1e-9);
  EXPECT_EQ(cascade->in_time, cascade->requests);
}

TEST(Tasks, OfBanditsFindTheVariantThatIsRight) {
  const TaskCase told = tried_twice(8, 400);
  const auto one = play_tasks(told, "earliest_start", "exp3");
  const auto all = play_tasks(told, "earliest_start", "exp4");
  ASSERT_TRUE(one && all);
  EXPECT_EQ(all->queries, 2 * all->requests);
  // One in ten is tried evenly, and before it is found the quick one is taken as often.
  EXPECT_GT(static_cast<double>(one->right), 0.93 * static_cast<double>(one->in_time));
  EXPECT_GT(static_cast<double>(all->right), 0.98 * static_cast<double>(all->in_time));
}

TEST(Tasks, SayWhatIsMissing) {
  TaskCase told = tried_twice(8, 1);
  told.answers.clear();
  EXPECT_EQ(play_tasks(told, "earliest_start", "exp3").error().code, Code::usage);
  EXPECT_EQ(play_tasks(told, "sheperd", "best").error().code, Code::not_found);
  told.services[0].slo_ms = 1;
  EXPECT_EQ(play_tasks(told, "shepherd", "best").error().code, Code::unavailable);
}

TEST(Tasks, NeedNoMemoryForAVariantThatIsNotAsked) {
  TaskCase told = tried_twice(8, 10);
  told.memory_gib = 10;
  told.variants[0].memory_gib = 12;
  told.variants[1].memory_gib = 6;
  told.variants[1].load_s = 0.05;
  const auto best = play_tasks(told, "symphony", "best");
  ASSERT_TRUE(best) << to_string(best.error());
  EXPECT_EQ(best->loads, 1);
  EXPECT_EQ(play_tasks(told, "symphony", "exp4").error().code, Code::unavailable);
}

TEST(Tasks, NeedAHostThatHoldsEachVariantThatIsAsked) {
  TaskCase told = tried_twice(8, 10);
  told.memory_gib = 10;
  told.variants[1].memory_gib = 6;
  told.variants[1].load_s = 0.05;
  told.host_gib = 6;
  const auto unknown = play_tasks(told, "symphony", "best");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "variant " + told.variants[1].name + " has no disk_s");
  told.variants[1].disk_s = 0.2;
  EXPECT_TRUE(play_tasks(told, "symphony", "best"));
  told.host_gib = 5.9;
  const auto run = play_tasks(told, "symphony", "best");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message,
            "variant " + told.variants[1].name + " needs 6 GiB, and the host has 5.9");
}

TEST(Tasks, HaveTheRatesOfALog) {
  // Two seconds: eight requests to the first service, none to the second.
  std::vector<TaskService> services{{.task = "see", .rate = 1}, {.task = "hear", .rate = 1}};
  std::vector<TaskArrival> arrivals;
  for (const double at_ms : {0, 100, 200, 300, 400, 500, 600, 2000}) arrivals.push_back({at_ms, 0});
  set_rates(services, arrivals);
  EXPECT_DOUBLE_EQ(services[0].rate, 4);
  EXPECT_EQ(services[1].rate, 0);
  // One moment has no rate.
  set_rates(services, {{0, 1}, {0, 1}});
  EXPECT_DOUBLE_EQ(services[0].rate, 4);
}

TEST(Tasks, WithEveryChoiceAnswerEachRequestOnceOrDropIt) {
  const TaskCase told = tried_twice(60, 20);
  for (const auto& dispatcher : registry().dispatchers.names()) {
    for (const auto& chooser : registry().choosers.names()) {
      SCOPED_TRACE(dispatcher + "+" + chooser);
      const auto run = play_tasks(told, dispatcher, chooser);
      ASSERT_TRUE(run) << to_string(run.error());
      EXPECT_EQ(run->requests, told.arrivals.size());
      EXPECT_LE(run->in_time, run->requests);
      EXPECT_LE(run->right, run->in_time);
      EXPECT_GE(run->queries, run->requests);
      EXPECT_LE(run->latency_ms.most, told.services[0].slo_ms);
      EXPECT_LE(run->busy_ms, run->span_ms + told.services[0].slo_ms);
    }
  }
}

/// The most requests that one GPU can answer in time: all orders of all batches. For a handful.
std::size_t best_of_all(const std::vector<Variant>& variants,
                        const std::vector<TimedRequest>& requests, double now, unsigned left) {
  std::size_t best = 0;
  for (unsigned some = left; some > 0; some = (some - 1) & left) {
    std::optional<std::size_t> variant;
    double start = now, deadline = 1e18;
    int size = 0;
    bool is_batch = true;
    for (std::size_t each = 0; each < requests.size() && is_batch; ++each) {
      if ((some >> each & 1U) == 0) continue;
      is_batch = !variant || *variant == requests[each].variant;
      variant = requests[each].variant;
      start = std::max(start, requests[each].arrival_ms);
      deadline = std::min(deadline, requests[each].deadline_ms);
      ++size;
    }
    if (!is_batch || size > variants[*variant].most_batch) continue;
    const double ends = start + variants[*variant].batch_ms(size, 1);
    if (ends > deadline) continue;
    best = std::max(
        best, static_cast<std::size_t>(size) + best_of_all(variants, requests, ends, left & ~some));
  }
  return best;
}

TEST(Dispatchers, AnswerNoMoreThanTheBestAndShepherdAtLeastItsBound) {
  constexpr double kBound = 12.62;
  std::size_t ours = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    const std::vector<Variant> variants{batching(1 + 4 * rng.uniform(), 1 + 4 * rng.uniform()),
                                        batching(1 + 8 * rng.uniform(), 0.5)};
    std::vector<TimedRequest> requests;
    double now = 0;
    for (int each = 0; each < 6; ++each) {
      now += 3 * rng.exponential();
      requests.push_back({now, now + 6 + 15 * rng.uniform(), rng.below(2)});
    }
    const std::size_t best =
        best_of_all(variants, requests, 0, (1U << static_cast<unsigned>(requests.size())) - 1);
    for (const auto& name : registry().dispatchers.names()) {
      SCOPED_TRACE(name + " " + std::to_string(seed));
      const DispatchedRun run = played(name, variants, requests);
      EXPECT_LE(run.in_time, best);
      for (std::size_t each = 0; each < requests.size(); ++each) {
        // What is answered is in time: the rest was dropped before. A group of operators heeds the
        // most urgent query alone.
        EXPECT_TRUE(name == "abacus" || run.finish_ms[each] <= requests[each].deadline_ms ||
                    run.finish_ms[each] > 1e300);
      }
      if (name != "shepherd") continue;
      EXPECT_GE(kBound * static_cast<double>(run.in_time), static_cast<double>(best));
      ours += run.in_time;
      all += best;
    }
  }
  EXPECT_GT(static_cast<double>(ours), 0.75 * static_cast<double>(all));
}

}  // namespace
}  // namespace almanac::deployment
