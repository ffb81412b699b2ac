// SPDX-License-Identifier: Apache-2.0

/// \file
/// The canary at a real Slurm: levers order the jobs of one partition and leave the other to Slurm;
/// it stands as long as all goes as expected; and when its jobs fail, all is taken back.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wall_clock.h"
#include "slurm/connect.h"
#include "slurm/test_cluster.h"
#include "steer/control.h"
#include "steer_slurm/slurm_service.h"
#include "store/store.h"
#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

using slurm::eventually;
using slurm::TestCluster;
using testing::HasSubstr;
using testing::IsSupersetOf;

using Numbers = std::vector<std::uint32_t>;

/// Fewer say nothing to a canary.
constexpr int kEnough = 24;

/// Two days in which no job waited in vc1, and none failed.
void remember_quiet_days(const std::string& state) {
  store::Store::Batch past;
  const Time now = wall_clock();
  for (int job = 0; job < 100; ++job) {
    const Time submit = now - 50h + job * 30min;
    store::Job each;
    each.number = store::JobNumber{900'000 + job};
    each.submit = submit;
    each.asked.change().user = "root";
    each.asked.change().name = "past";
    each.asked.change().vc = "vc1";
    each.asked.change().gpus = 8;
    each.asked.change().time_limit = 1h;
    each.state = trace::JobState::completed;
    each.start = submit;
    each.end = submit + 20min;
    each.attained = 20min;
    each.attempts = 1;
    past.put(each);
  }
  auto store = store::Store::open(state + "/almanac.db");
  ASSERT_TRUE(store) << to_string(store.error());
  ASSERT_TRUE(store->commit(past));
}

class CanarySlurmTest : public testing::Test {
 protected:
  void open() {
    std::filesystem::create_directories(state_);
    remember_quiet_days(state_);
    Config config{.state = state_, .policy = "sjf+limit", .policy_is_told = true};
    config.settings.levers["order"] = Switch::on;
    config.settings.canary.partitions = {"vc1"};
    config.settings.canary.window = 12h;
    config.settings.canary.patience = 2s;
    auto made = steer_slurm::SlurmService::open(config, *slurm::connect("commands"));
    ASSERT_TRUE(made) << to_string(made.error());
    service_ = std::move(*made);
  }
  bool steps_until(const std::function<bool()>& condition) {
    return eventually([&] {
      service_->step();
      return condition();
    });
  }
  service::LeverView order() const { return service_->status().manager.levers.front(); }

  TemporaryFolder folder_;
  std::string state_ = folder_ / "state";
  std::unique_ptr<steer_slurm::SlurmService> service_;
};

/// That wait in a partition, as Slurm would start them.
Numbers queue(const TestCluster& cluster, const std::string& partition) {
  std::istringstream lines(
      cluster.must(fmt::format("squeue -h -t PD -p {} -S -p,i -o %i", partition)));
  Numbers made;
  for (std::uint32_t job = 0; lines >> job;) made.push_back(job);
  return made;
}

std::vector<std::string> priorities(const TestCluster& cluster, const Numbers& jobs) {
  std::vector<std::string> made;
  for (const std::uint32_t job : jobs) made.push_back(cluster.of_job(job, "prioritylong"));
  return made;
}

TEST_F(CanarySlurmTest, StandsWhileAllIsWellAndRetreatsWhenJobsFail) {
  SKIP_WITHOUT_SLURM(.nodes = 2);
  const TestCluster cluster({.nodes = 2});
  cluster.must("scontrol delete partitionname=all");  // which joins the other two
  const auto submit = [&](const std::string& partition, int gpus, int minutes,
                          const std::string& what) {
    return cluster.submit(
        fmt::format("-p {} --gres=gpu:{} -t {} --wrap '{}'", partition, gpus, minutes, what));
  };
  const auto stays = submit("vc1", 4, 600, "sleep 3600");
  const auto stopper = submit("vc1", 4, 600, "sleep 3600");
  const auto other = submit("vc2", 8, 600, "sleep 3600");
  for (const auto job : {stays, stopper, other}) ASSERT_TRUE(cluster.becomes(job, "RUNNING"));
  // The policy's order is the reverse of Slurm's: first those that fail. The others never start.
  Numbers behind;
  for (int minutes = 303; minutes > 300; --minutes) {
    behind.push_back(submit("vc1", 8, minutes, "true"));
  }
  const std::vector<std::string> before = priorities(cluster, behind);
  for (int job = kEnough; job > 0; --job) submit("vc1", 1, job, "exit 1");
  Numbers untouched;
  for (int minutes = 9; minutes > 6; --minutes) {
    untouched.push_back(submit("vc2", 8, minutes, "true"));
  }
  const std::vector<std::string> theirs = priorities(cluster, untouched);

  open();
  service_->step();
  EXPECT_THAT(order().rests, HasSubstr("the canary"));
  ASSERT_TRUE(steps_until([&] { return order().rests.empty(); })) << order().rests;
  Numbers wanted = queue(cluster, "vc1");
  std::sort(wanted.rbegin(), wanted.rend());
  ASSERT_TRUE(steps_until([&] { return queue(cluster, "vc1") == wanted; }));
  const Time begun = wall_clock();
  ASSERT_TRUE(steps_until([&] { return wall_clock() > begun + 3s; }));
  EXPECT_EQ(order().how, Switch::on) << "all is well for longer than its patience";
  EXPECT_EQ(queue(cluster, "vc2"), untouched);
  EXPECT_EQ(priorities(cluster, untouched), theirs);

  cluster.must(fmt::format("scancel {}", stopper));
  ASSERT_TRUE(steps_until([&] { return order().how == Switch::dry; }));
  ASSERT_TRUE(steps_until([&] { return queue(cluster, "vc1") == behind; })) << "Slurm's own order";
  EXPECT_EQ(priorities(cluster, behind), before);
  EXPECT_EQ(cluster.of_job(stays, "state"), "RUNNING");
  EXPECT_THAT(service_->status().warnings,
              IsSupersetOf({HasSubstr("retreat: canary vc1: mean wait")}));
  EXPECT_EQ(read_switches(state_).value().at("order"), Switch::dry);
  for (int times = 0; times < 3; ++times) service_->step();
  EXPECT_EQ(priorities(cluster, behind), before) << "and it is left alone";
}

}  // namespace
}  // namespace almanac::steer
