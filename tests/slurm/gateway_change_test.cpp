// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the gateway changes at a real Slurm, what Slurm refuses, and how a hold ends when all
/// that holds it is gone.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/mark.h"
#include "slurm/gateway_link.h"
#include "slurm/test_cluster.h"

namespace almanac::slurm {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Result<void> change(GatewayLink& link, const JobChange& what) {
  const auto done = link.change(std::vector{what});
  EXPECT_THAT(done, SizeIs(1));
  return done[0];
}

Code code_of(const Result<void>& done) {
  EXPECT_FALSE(done);
  return done ? Code::usage : done.error().code;
}

/// Of the node `name`, as the news tell it.
Power power_of(const std::string& name) {
  GatewayLink link;
  const auto news = link.news();
  if (!news) return Power::on;
  const auto at = std::find_if(news->nodes.begin(), news->nodes.end(),
                               [&](const Node& node) { return node.name == name; });
  return at == news->nodes.end() ? Power::on : at->power;
}

TEST(GatewayChangeTest, IsObeyed) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 2});
  const JobNumber job{cluster.submit("-G 8 --wrap 'sleep 600' -H")};
  const auto number = static_cast<std::uint32_t>(job);
  GatewayLink link;
  ASSERT_TRUE(change(link, {.job = job, .comment = "by almanac"}));
  EXPECT_THAT(cluster.must("scontrol show job " + std::to_string(number)),
              HasSubstr("AdminComment=by almanac"));
  // Released where it is to run, it runs there.
  ASSERT_TRUE(change(link, {.job = job, .held = false, .required_nodes = "n002"}));
  ASSERT_TRUE(cluster.becomes(number, "RUNNING"));
  EXPECT_EQ(cluster.of_job(number, "nodelist"), "n002");

  const JobNumber waits{cluster.submit("-N 2 --exclusive --wrap true")};
  const auto waiting = static_cast<std::uint32_t>(waits);
  ASSERT_TRUE(change(link, {.job = waits, .site_factor = 4321}));
  EXPECT_TRUE(eventually([&] {
    const News news = link.news().value_or(News{});
    return std::any_of(news.jobs.begin(), news.jobs.end(), [&](const Job& told) {
      return told.number == waits && told.site_factor == 4321;
    });
  }));
  ASSERT_TRUE(change(link, {.job = waits, .priority = 777}));
  EXPECT_EQ(cluster.of_job(waiting, "prioritylong"), "777");
  ASSERT_TRUE(change(link, {.job = waits, .held = true}));
  EXPECT_EQ(cluster.of_job(waiting, "reason"), "JobHeldAdmin");
  ASSERT_TRUE(change(link, {.job = waits, .held = false}));
  ASSERT_TRUE(change(link, {.job = waits, .held = true, .of_user = true}));
  EXPECT_EQ(cluster.of_job(waiting, "reason"), "JobHeldUser");
  ASSERT_TRUE(change(link, {.job = waits, .priority = 99, .held = false}));
  EXPECT_EQ(cluster.of_job(waiting, "prioritylong"), "99");
  ASSERT_TRUE(change(link, {.job = waits, .required_nodes = "n001"}));
  EXPECT_EQ(cluster.of_job(waiting, "reqnodes"), "n001");
  ASSERT_TRUE(change(link, {.job = waits, .required_nodes = ""}));
  EXPECT_EQ(cluster.of_job(waiting, "reqnodes"), "");
}

TEST(GatewayChangeTest, GivesAJobOtherShards) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1, .shards = 16});
  const auto number = cluster.submit("-H --gres=shard:1 --wrap 'sleep 600'");
  const JobNumber whole{cluster.submit("-H --gres=gpu:1 --wrap 'sleep 600'")};
  GatewayLink link;
  EXPECT_EQ(code_of(change(link, {.job = whole, .shards = 2})), Code::unsupported);
  ASSERT_TRUE(change(link, {.job = JobNumber{number}, .held = false, .shards = 2}));
  ASSERT_TRUE(cluster.becomes(number, "RUNNING"));
  const News news = link.news().value_or(News{});
  const auto told = std::find_if(news.jobs.begin(), news.jobs.end(),
                                 [&](const Job& each) { return each.number == JobNumber{number}; });
  ASSERT_NE(told, news.jobs.end());
  ASSERT_THAT(told->holds, SizeIs(1));
  EXPECT_EQ(told->holds.front().shards, 2);
  EXPECT_EQ(told->holds.front().gpus, 1U);
}

TEST(GatewayChangeTest, TellsOfEachWhyItWasRefused) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1});
  const JobNumber ended{cluster.submit("--wrap true")};
  const JobNumber waits{cluster.submit("-H --wrap true")};
  ASSERT_TRUE(cluster.becomes(static_cast<std::uint32_t>(ended), "COMPLETED"));
  GatewayLink link;
  const auto done = link.change(std::vector<JobChange>{
      {.job = ended, .priority = 5},
      {.job = waits, .comment = "fine"},
      {.job = JobNumber{999'999}, .priority = 5},
      {.job = waits, .required_nodes = "nowhere"},
      {.job = waits, .site_factor = std::int64_t{1} << 40U},
      {.job = waits, .site_factor = std::numeric_limits<std::int64_t>::min()},
  });
  ASSERT_THAT(done, SizeIs(6));
  EXPECT_EQ(code_of(done[0]), Code::conflict);
  EXPECT_TRUE(done[1]);
  EXPECT_EQ(code_of(done[2]), Code::not_found);
  EXPECT_FALSE(done[3]);
  EXPECT_EQ(code_of(done[4]), Code::invalid);
  EXPECT_EQ(code_of(done[5]), Code::invalid);
  EXPECT_EQ(code_of(link.power(std::vector<std::string>{"n001"}, false)), Code::unsupported);
}

TEST(GatewayChangeTest, EndsWhatRuns) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1});
  const auto number = cluster.submit("--requeue --wrap 'sleep 600'");
  const JobNumber job{number};
  GatewayLink link;
  EXPECT_EQ(code_of(link.end(job, Fate::suspend)), Code::conflict);
  ASSERT_TRUE(cluster.becomes(number, "RUNNING"));
  ASSERT_TRUE(link.end(job, Fate::suspend));
  EXPECT_TRUE(cluster.becomes(number, "SUSPENDED"));
  ASSERT_TRUE(link.end(job, Fate::resume));
  EXPECT_TRUE(cluster.becomes(number, "RUNNING"));
  ASSERT_TRUE(link.end(job, Fate::requeue));
  EXPECT_TRUE(cluster.becomes(number, "PENDING"));
  ASSERT_TRUE(link.end(job, Fate::cancel));
  EXPECT_TRUE(cluster.becomes(number, "CANCELLED"));
  // Slurm itself would run it once more.
  EXPECT_EQ(code_of(link.end(job, Fate::requeue)), Code::conflict);
  EXPECT_EQ(cluster.of_job(number, "state"), "CANCELLED");
}

TEST(GatewayChangeTest, PowersNodesDownAndUp) {
  SKIP_WITHOUT_SLURM(.power = true);
  const TestCluster cluster({.nodes = 2, .power = true});
  const std::vector<std::string> node{"n002"};
  GatewayLink link;
  ASSERT_TRUE(link.power(node, false));
  EXPECT_TRUE(eventually([&] { return power_of("n002") == Power::powering_down; }));
  // Slurm takes the command, and forgets it when the node is down.
  ASSERT_TRUE(link.power(node, true));
  EXPECT_TRUE(eventually([&] { return power_of("n002") == Power::off; }));
  EXPECT_TRUE(eventually([&] {
    const Power power = power_of("n002");
    if (power == Power::off) {
      EXPECT_TRUE(link.power(node, true));
    }
    return power == Power::on;
  }));
  EXPECT_EQ(power_of("n001"), Power::on);
}

TEST(GatewayChangeTest, AHoldEndsWithinSlurmWhenDaemonAndGatewayAreKilled) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1});
  const auto blocker = cluster.submit("-N 1 --exclusive --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(blocker, "RUNNING"));
  const auto ours = cluster.submit("-N 1 --exclusive --wrap 'sleep 600'");
  cluster.must(fmt::format("scontrol update jobid={} priority=77777", ours));
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    GatewayLink link;
    const auto news = link.news();
    const Time end = news ? news->at + 20s : Time{};
    const JobChange hold{
        .job = JobNumber{ours}, .begins = end, .comment = manager::mark_until(end)};
    if (!news || !change(link, hold)) ::_exit(1);
    static_cast<void>(std::system(fmt::format("pkill -9 -P {} almanac-slurm", ::getpid()).c_str()));
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(daemon, &status, 0), daemon);
  ASSERT_TRUE(WIFSIGNALED(status));
  cluster.must(fmt::format("scancel {}", blocker));
  EXPECT_TRUE(eventually([&] { return cluster.of_job(ours, "reason") == "BeginTime"; }));
  EXPECT_TRUE(cluster.becomes(ours, "RUNNING"));
  EXPECT_EQ(cluster.of_job(ours, "prioritylong"), "77777") << "a hold takes no priority";
}

TEST(GatewayChangeTest, HoldsAndReleasesAndKeepsAgeWhereNoLimitsAreEnforced) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1});
  const auto blocker = cluster.submit("-N 1 --exclusive --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(blocker, "RUNNING"));
  const auto ours = cluster.submit("-N 1 --exclusive --wrap 'sleep 600'");
  const auto accrues = [&] {
    return cluster.must(fmt::format("scontrol show job {} | grep -o 'AccrueTime=.*'", ours));
  };
  ASSERT_TRUE(eventually([&] { return accrues().find("Unknown") == std::string::npos; }));
  const std::string before = accrues();
  GatewayLink link;
  const Time end{
      std::chrono::floor<std::chrono::seconds>((link.news()->at + 1h).time_since_epoch())};
  ASSERT_TRUE(
      change(link, {.job = JobNumber{ours}, .begins = end, .comment = manager::mark_until(end)}));
  EXPECT_TRUE(eventually([&] { return cluster.of_job(ours, "reason") == "BeginTime"; }));
  const auto told = link.news();
  ASSERT_TRUE(told);
  ASSERT_FALSE(told->jobs.empty());
  EXPECT_EQ(manager::lease_end(told->jobs.back().comment), end);
  EXPECT_EQ(told->jobs.back().eligible, end) << "by which a lease is known";
  ASSERT_TRUE(change(link, {.job = JobNumber{ours}, .begins = Time{}, .comment = ""}));
  cluster.must(fmt::format("scancel {}", blocker));
  EXPECT_TRUE(cluster.becomes(ours, "RUNNING"));
  EXPECT_EQ(accrues(), before);
}

TEST(GatewayChangeTest, IsNotAskedOfASilentControllerJobByJob) {
  SKIP_WITHOUT_SLURM();
  // No caller waits for longer than that for one answer.
  const TestCluster cluster({.nodes = 1, .more = "MessageTimeout=2"});
  std::vector<JobChange> changes;
  for (int job = 0; job < 20; ++job) {
    changes.push_back({.job = JobNumber{cluster.submit("-H --wrap true")}, .site_factor = job + 1});
  }
  GatewayLink link;
  ASSERT_TRUE(link.site());
  cluster.end_controller("KILL");
  const auto done = link.change(changes);
  ASSERT_THAT(done, SizeIs(20));
  for (const auto& each : done) EXPECT_EQ(code_of(each), Code::unavailable);
  EXPECT_THAT(done.front().error().message, HasSubstr("Unable to contact"));
  EXPECT_THAT(done.back().error().message, HasSubstr("not sent"));
}

}  // namespace
}  // namespace almanac::slurm
