// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tick/engine.h"
#include "tick/free_nodes.h"
#include "tick/policies.h"

namespace almanac::elastic {
namespace {

/// Two epochs of 100 steps of 10 samples. A step takes 1 s, whatever the GPUs; on two of them half
/// of it is the exchange.
Application steady() {
  Application made{.name = "steady",
                   .initial_batch = 10,
                   .max_batch = 20,
                   .min_local_batch = 1,
                   .max_local_batch = 20,
                   .completion_epoch = 1};
  for (const int shape : {1, 2, 3, 4, 11}) {
    made.steps.measure(static_cast<std::uint64_t>(shape), 1, {.step_s = 1, .sync_s = 0.5});
    made.steps.measure(static_cast<std::uint64_t>(shape), 20, {.step_s = 1, .sync_s = 0.5});
  }
  made.steps.sort();
  for (const int batch : {10, 20}) {
    made.validated[batch] = {
        {.progress = 100, .iteration = 100, .gradient = {.sqr = 1, .var = 0}},
        {.progress = 200.5, .iteration = 201, .gradient = {.sqr = 1, .var = 0}}};
  }
  return made;
}

/// Gives each job the shares that it is told, in each tick.
class Told final : public TickPolicy {
 public:
  explicit Told(std::vector<Shares> shares) : shares_(std::move(shares)) {}
  std::optional<int> fixed_batch(const TickJob& job) const override { return job.asked_batch; }
  bool learns() const override { return false; }
  std::vector<Shares> allocate(std::int64_t, std::span<const std::size_t> candidates,
                               std::span<const TickState>, const TickOptions&) override {
    std::vector<Shares> given;
    for (const std::size_t job : candidates) given.push_back(shares_[job]);
    return given;
  }

 private:
  std::vector<Shares> shares_;
};

TEST(TickEngine, StartsAtTheFirstTickAndPaysForIt) {
  const Application application = steady();
  const std::vector<TickJob> jobs{{.name = "a",
                                   .application = &application,
                                   .submit_s = 61,
                                   .asked_gpus = 1,
                                   .asked_batch = 10}};
  Told policy(std::vector<Shares>{Shares{{.node = 0, .gpus = 1}}});
  // From the tick at 120 s: 30 s of a restart, 100 steps, then 100.5 that end at an even second.
  EXPECT_EQ(*run_ticks(jobs, {}, policy), std::vector<std::int64_t>{120 + 30 + 100 + 100 - 61});
}

TEST(TickEngine, SpreadJobsThatMeetSlowEachOther) {
  const Application application = steady();
  TickJob job{
      .name = "a", .application = &application, .submit_s = 60, .asked_gpus = 2, .asked_batch = 10};
  const std::vector<TickJob> jobs{job, job, job};
  const Shares both{{.node = 0, .gpus = 1}, {.node = 1, .gpus = 1}};
  Told policy(std::vector<Shares>{both, both, Shares{{.node = 1, .gpus = 2}}});
  const auto jcts = *run_ticks(jobs, {.interference = 0.5}, policy);
  // Both lose half of their speed to the end: 200 s an epoch, and 201.
  EXPECT_EQ(jcts, (std::vector<std::int64_t>{30 + 200 + 201, 30 + 200 + 201, 30 + 100 + 100}));
}

TEST(TickEngine, EndsWhereNothingWasMeasured) {
  const Application application = steady();
  const std::vector<TickJob> jobs{
      {.name = "a", .application = &application, .asked_gpus = 5, .asked_batch = 10}};
  Told policy(std::vector<Shares>{Shares{{.node = 0, .gpus = 2}, {.node = 1, .gpus = 3}}});
  EXPECT_EQ(run_ticks(jobs, {}, policy).error().code, Code::unsupported);
}

TEST(TickEngine, SaysWhereAJobNeverRuns) {
  const Application application = steady();
  const std::vector<TickJob> jobs{
      {.name = "a", .application = &application, .asked_gpus = 100, .asked_batch = 10}};
  EXPECT_EQ(run_ticks(jobs, {.tick_s = 86'400}, *make_tiresias()).error().code, Code::unsupported);
}

TEST(FreeNodes, TakesOfTheNodeWithMostUntilItSuffices) {
  FreeNodes free({.nodes = 3, .gpus_per_node = 4});
  free.take({{.node = 0, .gpus = 1}});
  EXPECT_EQ(free.take_emptiest(6), (Shares{{.node = 1, .gpus = 4}, {.node = 2, .gpus = 2}}));
  EXPECT_EQ(free.take_emptiest(4), (Shares{{.node = 0, .gpus = 3}, {.node = 2, .gpus = 1}}));
}

TEST(FreeNodes, LeavesAsLittleAsCanBeOfANode) {
  FreeNodes free({.nodes = 3, .gpus_per_node = 4});
  free.take({{.node = 1, .gpus = 2}});
  EXPECT_EQ(free.take_tightest(6), (Shares{{.node = 0, .gpus = 4}, {.node = 1, .gpus = 2}}));
  EXPECT_EQ(free.take_tightest(6), (Shares{{.node = 2, .gpus = 4}})) << "all that is free";
}

TEST(Tiresias, WhoHadSixteenGpuHoursGoesBehind) {
  // One node. The first job needs it for longer than 14,400 s, the second comes late and is short.
  Application application = steady();
  for (auto& [batch, rows] : application.validated) {
    rows = {{.progress = 30'000, .iteration = 30'000, .gradient = {.sqr = 1, .var = 0}}};
  }
  application.completion_epoch = 0;
  const Application brief = steady();
  const std::vector<TickJob> jobs{{.name = "long",
                                   .application = &application,
                                   .submit_s = 60,
                                   .asked_gpus = 4,
                                   .asked_batch = 10},
                                  {.name = "short",
                                   .application = &brief,
                                   .submit_s = 600,
                                   .asked_gpus = 4,
                                   .asked_batch = 10}};
  const auto jcts = *run_ticks(jobs, {.nodes = 1}, *make_tiresias());
  // The first goes behind at 60 + 14,400 s; the second runs for 230 s of the ticks that follow.
  EXPECT_EQ(jcts[1], 14'460 + 230 - 600);
  // 30,030 s of work, 240 s without GPUs, another restart.
  EXPECT_EQ(jcts[0], 30'000 + 30 + 240 + 30);
}

TEST(Pollux, LearnsWhereAJobIsFast) {
  // A job that gains nothing by GPUs leaves them to one that does.
  Application application = steady();
  for (auto& [batch, rows] : application.validated) {
    rows[0].gradient = rows[1].gradient = {.sqr = 1e-6, .var = 1};
  }
  const std::vector<TickJob> jobs{
      {.name = "a", .application = &application, .asked_gpus = 1, .asked_batch = 10}};
  const auto one = run_ticks(jobs, {.nodes = 1}, *make_pollux({}));
  ASSERT_TRUE(one);
  EXPECT_EQ(*one, *run_ticks(jobs, {.nodes = 1}, *make_pollux({}))) << "same seed, same schedule";
  EXPECT_LT(one->front(), 60 + 30 + 200) << "a batch of 20 counts twice";
}

TEST(Hasten, LaterJobsStartByWhatEarlierOnesTold) {
  Application application = steady();
  const std::vector<TickJob> jobs{
      {.name = "a", .application = &application, .submit_s = 0, .asked_gpus = 1, .asked_batch = 10},
      {.name = "b",
       .application = &application,
       .submit_s = 1200,
       .asked_gpus = 1,
       .asked_batch = 10}};
  const auto jcts = run_ticks(jobs, {.nodes = 1}, *make_hasten());
  ASSERT_TRUE(jcts);
  EXPECT_LE((*jcts)[1], (*jcts)[0]);
  EXPECT_EQ(*jcts, *run_ticks(jobs, {.nodes = 1}, *make_hasten()));
}

}  // namespace
}  // namespace almanac::elastic
