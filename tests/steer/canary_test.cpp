// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is expected of a canary, when it has died, and what then becomes of the levers.
#include "steer/canary.h"

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_link.h"
#include "steer/control.h"
#include "steer/policies.h"
#include "steer_slurm/slurm_service.h"
#include "store/store.h"
#include "support/after_use.h"
#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

using testing::HasSubstr;

Time at(Duration time) { return Time{time}; }

TEST(CanaryAverages, CountJobsThatStartedAndThatWaitStill) {
  const std::vector<Course> jobs{
      {.since = at(0h), .start = at(1h), .end = at(2h), .failed = true},      // all before
      {.since = at(0h), .start = at(5h), .end = at(9h)},                      // waited 5 h
      {.since = at(6h), .start = at(7h), .end = at(8h), .failed = true},      // 1 h
      {.since = at(7h)},                                                      // 3 h so far
      {.since = at(11h), .start = at(12h), .end = at(13h), .failed = true}};  // comes later
  const Averages seen = averages(jobs, at(10h), 6h);
  EXPECT_EQ(seen.waits, 3);
  EXPECT_DOUBLE_EQ(seen.wait_s, seconds(3h));
  EXPECT_EQ(seen.ended, 2);
  EXPECT_DOUBLE_EQ(seen.failed, 0.5);
}

/// Jobs of an hour and all 8 GPUs, one every so often, each tenth of which failed.
trace::Trace past(Duration between) {
  trace::Trace made;
  for (int job = 0; job < 200; ++job) {
    trace::Job& each = made.jobs.emplace_back();
    each.id = trace::JobKey{static_cast<std::uint64_t>(job) + 1};
    each.request.submit = at(job * between);
    each.request.time_limit = 1h;
    each.request.vc = made.names.intern("v");
    each.request.user = made.names.intern("ann");
    each.request.name = made.names.intern("train");
    each.request.gpus = 8;
    each.outcome.run = 1h;
    each.outcome.start = each.request.submit;
    each.outcome.end = each.request.submit + 1h;
    each.outcome.state = job % 10 == 0 ? trace::JobState::failed : trace::JobState::completed;
  }
  return made;
}

cluster::Cluster one_node() {
  cluster::Cluster made;
  made.add_vc("v");
  made.add_nodes({.gpus = 8, .gpu_type = "v100", .cpus = 48, .memory_gb = 256}, 1);
  return made;
}

TEST(CanaryExpect, PlaysThePastUnderThePolicy) {
  const policy::Composition policy = compose("fifo")->composition;
  CanarySettings settings;
  settings.window = 48h;
  const auto quiet =
      expect({past(90min)}, {"v"}, one_node(), policy, settings, kNoDuration, 0, nullptr);
  ASSERT_TRUE(quiet) << to_string(quiet.error());
  EXPECT_DOUBLE_EQ(quiet->wait_s, 60) << "there is room for each when it comes";
  EXPECT_GT(quiet->failed, 0.12);
  EXPECT_LT(quiet->failed, 0.3);
  settings.slack = 2;
  const auto crowded =
      expect({past(50min)}, {"v"}, one_node(), policy, settings, kNoDuration, 0, nullptr);
  ASSERT_TRUE(crowded);
  EXPECT_GT(crowded->wait_s, seconds(10h));
  EXPECT_EQ(expect({past(90min)}, {"w"}, one_node(), policy, settings, kNoDuration, 0, nullptr)
                .error()
                .code,
            Code::unavailable);
}

TEST(CanaryExpect, KeepsTheQuotasOfTheSite) {
  const policy::Composition policy = compose("fifo")->composition;
  cluster::Cluster nodes = one_node();
  nodes.add_nodes({.gpus = 8}, 1);
  CanarySettings settings;
  settings.window = 48h;
  // So many GPUs of a quota of 8.
  const auto expect_with = [&](std::optional<int> claimed) {
    experiment::Past crowded{past(50min)};
    crowded.quotas.book.add(8);
    for (const trace::Job& job : crowded.log.jobs) {
      if (!claimed) break;
      crowded.quotas.claims[job.id] =
          crowded.quotas.book.claim({.counted = {0}, .asked = {0}, .gpus = *claimed});
    }
    return expect(std::move(crowded), {"v"}, nodes, policy, settings, kNoDuration, 0, nullptr);
  };
  EXPECT_DOUBLE_EQ(expect_with(std::nullopt)->wait_s, 60) << "there are two nodes";
  EXPECT_GT(expect_with(8)->wait_s, seconds(10h));
  EXPECT_EQ(expect_with(16).error().code, Code::unavailable) << "none could run today";
}

TEST(CanaryExpect, CountsWhatOwnersUsedBefore) {
  const policy::Composition policy = compose("fair_share")->composition;
  CanarySettings settings;
  settings.history = 24h * 8;
  settings.window = 24h;
  const auto wait_after_use_of = [&](const std::string& user) {
    const auto made = expect({log_after_use_of(user, "v")}, {"v"}, one_node(), policy, settings,
                             kNoDuration, 0, nullptr);
    EXPECT_TRUE(made) << to_string(made.error());
    return made ? made->wait_s : 0;
  };
  EXPECT_LT(wait_after_use_of("ann"), seconds(3h)) << "eve's short jobs go first";
  EXPECT_GT(wait_after_use_of("eve"), seconds(10h)) << "ann's long job goes first";
}

TEST(CanaryExpect, KeepsTheAgeCap) {
  const policy::Composition policy = compose("sjf+limit")->composition;
  CanarySettings settings;
  settings.window = 48h;
  // A job of all GPUs for a day, which shorter jobs overtake for two weeks.
  const auto wait_with = [&](Duration age_cap) {
    trace::Trace log = past(50min);
    for (trace::Job& job : log.jobs) job.request.time_limit = 2h;
    log.jobs[20].request.time_limit = 24h;
    const auto made =
        expect({std::move(log)}, {"v"}, one_node(), policy, settings, age_cap, 0, nullptr);
    EXPECT_TRUE(made) << to_string(made.error());
    return made ? made->wait_s : 0;
  };
  EXPECT_NE(wait_with(24h), wait_with(kNoDuration));
}

/// Two partitions of one node each.
FakeSlurm two_partitions(const std::string& cluster) {
  FakeSlurm slurm;
  slurm.site.cluster = cluster;
  slurm.add_partition("v", 1, 8);
  slurm.add_partition("w", 1, 8);
  return slurm;
}

class CanaryServiceTest : public testing::Test {
 protected:
  void open() {
    Config config{.state = folder_ / "state", .policy = "sjf+limit", .policy_is_told = true};
    config.retention = 24h * 36'500;  // its clock is years behind
    config.settings.levers["order"] = Switch::on;
    config.settings.canary.partitions = {"v"};
    config.settings.canary.window = window_;
    config.settings.canary.patience = 30min;
    auto made = steer_slurm::SlurmService::open(config, std::make_unique<FakeLink>(slurm_));
    ASSERT_TRUE(made) << to_string(made.error());
    service_ = std::move(*made);
  }
  service::LeverView order() const { return service_->status().manager.levers.front(); }
  /// Jobs that come and go without waiting.
  void live_quietly(int jobs) {
    for (int job = 0; job < jobs; ++job) {
      for (const std::string partition : {"v", "w"}) slurm_.submit("ann", 8, 4min, partition);
      slurm_.pass(1s);
      service_->step();
      slurm_.pass(5min);
      service_->step();
    }
  }
  /// What is expected is worked out beside.
  void wait_for_the_play() {
    for (int glance = 0; glance < 1000 && !order().rests.empty(); ++glance) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      service_->step();
    }
  }

  /// Its jobs wait too long, and the controller takes three changes back and no more.
  void retreat_half_way() {
    open();
    live_quietly(60);
    service_.reset();
    open();
    service_->step();
    wait_for_the_play();
    ASSERT_EQ(order().rests, "");
    for (const std::string partition : {"v", "w"}) {
      slurm_.submit("ann", 8, 100h, partition);
      slurm_.pass(1s);
      for (int job = 25; job > 0; --job) slurm_.submit("ann", 8, job * 1h, partition);
    }
    service_->step();
    EXPECT_NE(slurm_.queue("v").front(), 122U) << "the shortest is the first";
    EXPECT_EQ(slurm_.queue("w").front(), 148U) << "as they came";
    EXPECT_EQ(order().how, Switch::on);
    slurm_.most_changes = slurm_.changes + 3;  // the controller is busy when it is to be left alone
    for (int minutes = 0; minutes < 60; minutes += 5) {
      slurm_.pass(5min);
      service_->step();
    }
    EXPECT_EQ(order().how, Switch::dry);
  }

  FakeSlurm slurm_ = two_partitions(testing::UnitTest::GetInstance()->current_test_info()->name());
  Duration window_ = 2h;
  TemporaryFolder folder_;
  std::unique_ptr<steer_slurm::SlurmService> service_;
};

TEST_F(CanaryServiceTest, RestsUntilItKnowsWhatToExpect) {
  open();
  for (int glance = 0; glance < 100; ++glance) {
    service_->step();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_THAT(order().rests, HasSubstr("the canary"));
  ASSERT_TRUE(service_->manager()->canary);
  EXPECT_EQ(service_->manager()->canary->rests, order().rests);
  EXPECT_FALSE(service_->manager()->canary->most_wait_s);
  slurm_.submit("ann", 8, 1h);
  slurm_.submit("ann", 8, 1h);
  service_->step();
  EXPECT_EQ(slurm_.changes, 0);
}

TEST_F(CanaryServiceTest, LooksAgainWhatToExpectWhenMoreIsKnown) {
  open();
  for (int glance = 0; glance < 100; ++glance) {
    service_->step();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  live_quietly(60);
  wait_for_the_play();
  EXPECT_EQ(order().rests, "");
}

TEST_F(CanaryServiceTest, LearnsFromAPastThatNamesPartitionsWhichShareNodes) {
  slurm_.partitions.push_back({.name = "all", .nodes = {"v001", "w001"}});
  store::Store::Batch past;
  for (int job = 0; job < 100; ++job) {
    const Time submit = slurm_.now - 48h + job * 10min;
    store::Job each;
    each.number = store::JobNumber{job + 1};
    each.submit = submit;
    each.asked.change().user = "ann";
    each.asked.change().vc = "v";
    each.asked.change().gpus = 8;
    each.state = trace::JobState::completed;
    each.start = submit;
    each.end = submit + 4min;
    each.attained = 4min;
    past.put(each);
  }
  std::filesystem::create_directories(folder_ / "state");
  {
    auto store = store::Store::open(folder_ / "state/almanac.db");
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->commit(past));
  }
  window_ = 6h;  // of 20 jobs at least
  open();
  service_->step();
  wait_for_the_play();
  EXPECT_EQ(order().rests, "");
}

TEST_F(CanaryServiceTest, TouchesItsPartitionOnlyAndRetreatsWhenItsJobsWaitTooLong) {
  retreat_half_way();
  slurm_.most_changes = 10'000;
  service_->step();
  for (const auto& [number, one] : slurm_.jobs) EXPECT_EQ(one.job.site_factor, 0);
  const auto manager = service_->manager();
  ASSERT_TRUE(manager && manager->canary);
  EXPECT_GT(manager->canary->wait_s, manager->canary->most_wait_s.value());
  EXPECT_THAT(manager->canary->retreat, HasSubstr("retreat: canary v: mean wait"));
  EXPECT_EQ(manager->levers.front().how, Switch::dry);
  const auto status = read_status(folder_ / "state");
  ASSERT_TRUE(status);
  EXPECT_THAT(status->canary, HasSubstr("canary v: mean wait"));
  ASSERT_FALSE(status->warnings.empty());
  EXPECT_THAT(status->warnings.front(), HasSubstr("retreat: canary v: mean wait"));
  const auto switches = read_switches(folder_ / "state");
  ASSERT_TRUE(switches);
  EXPECT_EQ(switches->at("order"), Switch::dry) << "and stays so when the service begins anew";
}

TEST_F(CanaryServiceTest, TakesAllBackThoughItIsKilledWhileItRetreats) {
  retreat_half_way();
  service_.reset();
  slurm_.most_changes = 10'000;
  open();
  service_->step();
  for (const auto& [number, one] : slurm_.jobs) EXPECT_EQ(one.job.site_factor, 0);
  EXPECT_EQ(order().how, Switch::dry);
  EXPECT_FALSE(undo_is_asked(folder_ / "state"));
}

}  // namespace
}  // namespace almanac::steer
