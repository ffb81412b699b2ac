// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the gateway tells of a real Slurm: all there is, then only what has changed; and what it
/// says while there is no controller.
#include <algorithm>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slurm/gateway_link.h"
#include "slurm/test_cluster.h"

namespace almanac::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const Job* find(const News& news, std::uint32_t number) {
  const auto at = std::find_if(news.jobs.begin(), news.jobs.end(),
                               [&](const Job& job) { return job.number == JobNumber{number}; });
  return at == news.jobs.end() ? nullptr : &*at;
}

News ask(GatewayLink& link) {
  auto news = link.news();
  EXPECT_TRUE(news) << to_string(news.error());
  return news.value_or(News{});
}

/// The first news there are, however long it takes.
News await_any(GatewayLink& link) {
  News news;
  EXPECT_TRUE(eventually([&] {
    auto told = link.news();
    if (told) news = std::move(*told);
    return told.has_value();
  }));
  return news;
}

/// Takes news in until `job` is told as `is` wants it.
template <typename Condition>
Job await(GatewayLink& link, std::uint32_t job, Condition&& is) {
  Job last;
  EXPECT_TRUE(eventually([&] {
    const News news = ask(link);
    if (const Job* const told = find(news, job)) last = *told;
    return last.number != JobNumber{} && is(last);
  }));
  return last;
}

TEST(GatewayNewsTest, TellsTheClusterAndItsJobs) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster;
  const auto gang = cluster.submit("-J gang -N 2 --gres=gpu:8 -t 90 --wrap 'sleep 600'");
  const auto held = cluster.submit("-H -p vc1 -G 4 -L matlab:2 --wrap true");
  const auto array = cluster.submit("-H --array=3-9%2 --wrap true");
  ASSERT_TRUE(cluster.becomes(gang, "RUNNING"));
  GatewayLink link;
  const News news = ask(link);
  EXPECT_TRUE(news.whole);
  EXPECT_THAT(news.jobs, SizeIs(3));

  const Job* const runs = find(news, gang);
  ASSERT_NE(runs, nullptr);
  EXPECT_EQ(runs->name, "gang");
  EXPECT_EQ(runs->user, "root");
  EXPECT_EQ(runs->state, State::running);
  EXPECT_EQ(runs->limit, 90min);
  EXPECT_EQ(runs->nodes, 2);
  EXPECT_EQ(runs->gpus, 16);
  EXPECT_EQ(runs->gpus_per_node, 8);
  ASSERT_THAT(runs->holds, SizeIs(2));
  EXPECT_EQ(
      runs->holds[0],
      (Held{.node = "n001", .gpus = 0xff, .gpu_count = 8, .cpus = 1, .memory_gb = 100.0 / 1024}));
  EXPECT_EQ(runs->holds[1].node, "n002");

  const Job* const waits = find(news, held);
  ASSERT_NE(waits, nullptr);
  EXPECT_EQ(waits->state, State::pending);
  EXPECT_TRUE(waits->held);
  EXPECT_EQ(waits->reason, "JobHeldUser");
  EXPECT_EQ(waits->gpus, 4);
  EXPECT_EQ(waits->licences, "matlab:2");
  EXPECT_EQ(waits->start, kNoTime);
  EXPECT_EQ(waits->limit, kNoDuration);
  EXPECT_THAT(waits->holds, IsEmpty());

  const Job* const tasks = find(news, array);
  ASSERT_NE(tasks, nullptr);
  EXPECT_EQ(tasks->array, JobNumber{array});
  EXPECT_EQ(tasks->tasks, "3-9%2");
  EXPECT_FALSE(tasks->task);

  ASSERT_THAT(news.nodes, SizeIs(8));
  EXPECT_EQ(news.nodes[0].name, "n001");
  EXPECT_EQ(news.nodes[0].gpus, 8);
  EXPECT_EQ(news.nodes[0].gpu_type, "a100");
  EXPECT_EQ(news.nodes[0].cpus, 48);
  EXPECT_THAT(news.nodes[0].partitions, UnorderedElementsAre("all", "vc1"));
  EXPECT_TRUE(news.nodes[0].busy);
  EXPECT_FALSE(news.nodes[7].busy);
  ASSERT_TRUE(news.partitions);
  EXPECT_THAT(*news.partitions, SizeIs(3));
  ASSERT_TRUE(news.reservations);
  EXPECT_THAT(*news.reservations, IsEmpty());
  ASSERT_TRUE(news.licences);
  EXPECT_THAT(*news.licences, ElementsAre(Licence{.name = "matlab", .total = 10}));
}

TEST(GatewayNewsTest, TellsOnlyWhatHasChanged) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 2, .more = "MinJobAge=2"});
  const auto one = cluster.submit("-H --wrap true");
  const auto two = cluster.submit("-H --wrap true");
  GatewayLink link;
  EXPECT_THAT(ask(link).jobs, SizeIs(2));
  const News same = ask(link);
  EXPECT_FALSE(same.whole);
  EXPECT_THAT(same.jobs, IsEmpty());
  EXPECT_THAT(same.nodes, IsEmpty());
  EXPECT_FALSE(same.partitions);

  cluster.must("scontrol update jobid=" + std::to_string(two) + " name=other");
  await(link, two, [](const Job& job) { return job.name == "other"; });
  cluster.must("scontrol update nodename=n002 state=drain reason=broken");
  EXPECT_TRUE(eventually([&] {
    const News news = ask(link);
    EXPECT_THAT(news.jobs, IsEmpty());
    return news.nodes.size() == 1 && news.nodes[0].drained && news.nodes[0].reason == "broken";
  }));
  cluster.must("scontrol create reservation=r users=root starttime=now duration=60 nodes=n001");
  EXPECT_TRUE(eventually([&] {
    const News news = ask(link);
    return news.reservations && news.reservations->size() == 1 &&
           news.reservations->front().nodes == std::vector<std::string>{"n001"};
  }));
  // What has ended is told once more, and then Slurm forgets it.
  cluster.must("scancel " + std::to_string(one));
  const Job ended = await(link, one, [](const Job& job) { return job.state == State::ended; });
  EXPECT_EQ(ended.outcome, trace::JobState::cancelled);
  EXPECT_TRUE(eventually([&] { return ask(link).gone == std::vector{JobNumber{one}}; }));
}

TEST(GatewayNewsTest, TellsWhichPrioritiesAnAdministratorHasSet) {
  SKIP_WITHOUT_SLURM();
  for (const std::string type : {"multifactor", "basic"}) {
    const TestCluster cluster({.nodes = 1, .more = "PriorityType=priority/" + type});
    const auto runs = cluster.submit("--gres=gpu:8 --wrap 'sleep 600'");
    ASSERT_TRUE(cluster.becomes(runs, "RUNNING"));
    const auto usual = cluster.submit("--gres=gpu:8 --wrap true");
    const auto own = cluster.submit("--gres=gpu:8 --wrap true");
    GatewayLink link;
    ask(link);
    cluster.must("scontrol update jobid=" + std::to_string(own) + " priority=77777");
    const bool works_out = type == "multifactor";
    await(link, own,
          [&](const Job& job) { return job.priority == 77'777 && job.own_priority == works_out; });
    GatewayLink other;
    const News news = ask(other);
    EXPECT_FALSE(find(news, usual)->own_priority) << type;
    EXPECT_FALSE(find(news, runs)->own_priority) << type;
    EXPECT_EQ(find(news, own)->own_priority, works_out) << type;
  }
}

TEST(GatewayNewsTest, IsWholeAgainAfterTheGatewayWasKilled) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1});
  cluster.submit("-H --wrap true");
  GatewayLink link;
  EXPECT_TRUE(ask(link).whole);
  EXPECT_FALSE(ask(link).whole);
  const pid_t first = link.process();
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  const auto lost = link.news();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::unavailable);
  EXPECT_THAT(lost.error().message, HasSubstr("killed by signal 9"));
  const News news = ask(link);
  EXPECT_TRUE(news.whole);
  EXPECT_THAT(news.jobs, SizeIs(1));
  EXPECT_NE(link.process(), first);
}

TEST(GatewayNewsTest, IsUnavailableWithoutAControllerAndThenWhole) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1, .more = "MessageTimeout=2"});
  cluster.submit("-H --wrap true");
  GatewayLink link({.patience = 1s});
  EXPECT_TRUE(await_any(link).whole);
  const pid_t gateway = link.process();
  cluster.end_controller("TERM");
  const auto nothing = link.news();
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, Code::unavailable);
  const auto change = link.change(std::vector{JobChange{.job = JobNumber{1}, .priority = 5}});
  ASSERT_THAT(change, SizeIs(1));
  EXPECT_EQ(change[0].error().code, Code::unavailable);
  cluster.start_controller();
  const News news = await_any(link);
  EXPECT_TRUE(news.whole);
  EXPECT_THAT(news.jobs, SizeIs(1));
  // A question that comes to nothing is no reason to end.
  EXPECT_EQ(link.process(), gateway);
}

TEST(GatewayNewsTest, SaysWhatTheSiteIs) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1});
  GatewayLink link;
  const auto site = link.site();
  ASSERT_TRUE(site) << to_string(site.error());
  EXPECT_EQ(site->cluster, TestCluster::name());
  EXPECT_EQ(site->controller, "controller");
  EXPECT_THAT(site->version, HasSubstr("."));
  EXPECT_EQ(site->parameters.at("PriorityType"), "priority/multifactor");
  EXPECT_FALSE(site->federated);
  EXPECT_EQ(site->is_operator, true);
  EXPECT_LE(std::chrono::abs(site->skew), 1min);
}

TEST(GatewayNewsTest, PassesOnWhyTheProgramEnded) {
  SKIP_WITHOUT_SLURM();
  ::setenv("SLURM_CONF", "/nowhere/slurm.conf", 1);
  GatewayLink link;
  const auto nothing = link.news();
  ::unsetenv("SLURM_CONF");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, Code::unavailable);
  EXPECT_THAT(nothing.error().message, HasSubstr("/nowhere/slurm.conf"));
}

}  // namespace
}  // namespace almanac::slurm
