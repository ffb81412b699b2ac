// SPDX-License-Identifier: Apache-2.0
#include "steer/settings.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace almanac::steer {
namespace {

Result<Settings> read(const std::string& text) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("almanac-levers-" + std::to_string(::getpid()) + ".toml"))
                               .string();
  std::ofstream(path) << text;
  auto made = read_settings(path);
  std::filesystem::remove(path);
  return made;
}

TEST(Settings, AreDryUnlessToldOtherwise) {
  const auto made = read("");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->of("order"), Switch::dry);
  EXPECT_EQ(made->of("power"), Switch::dry);
}

TEST(Settings, AreReadWhole) {
  const auto made = read(R"(
virtual_clusters = "all"
changes_per_s = 50
poll_s = 0.5
[levers]
order = "on"
power = "off"
[exempt]
users = ["root", "ann"]
[order]
window = [-100, 100]
age_cap_h = 2
[placement]
patience_s = 90
[power]
minimum_on = 4
wakes_per_minute = 7
[preemption]
by = "suspend"
once_in_h = 0.5
[slimming]
bandwidth_gbs = 204.8
[idle]
mode = "requeue"
after_min = 45
grace_min = 5
below = 0.02
hook = "true"
[canary]
partitions = ["v100"]
history_d = 7
window_h = 2
patience_h = 3
slack = 2
)");
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->virtual_clusters, Grouping::all);
  EXPECT_EQ(made->poll, 500ms);
  EXPECT_EQ(made->of("order"), Switch::on);
  EXPECT_EQ(made->of("power"), Switch::off);
  EXPECT_TRUE(made->exempt.users.contains("ann"));
  EXPECT_EQ(made->order.lowest, -100);
  EXPECT_EQ(made->order.age_cap, 2h);
  EXPECT_EQ(made->placement.patience, 90s);
  EXPECT_EQ(made->power.minimum_on, 4);
  EXPECT_EQ(made->power.wakes_per_minute, 7);
  EXPECT_TRUE(made->preemption.suspends);
  EXPECT_EQ(made->preemption.once_in, 30min);
  EXPECT_EQ(made->slimming.bandwidth_gbs, 204.8);
  EXPECT_TRUE(made->idle.requeues);
  EXPECT_EQ(made->idle.after, 45min);
  EXPECT_EQ(made->idle.grace, 5min);
  EXPECT_EQ(made->idle.below, 0.02);
  EXPECT_EQ(made->idle.hook, "true");
  EXPECT_TRUE(made->canary.partitions.contains("v100"));
  EXPECT_EQ(made->canary.history, 24h * 7);
  EXPECT_EQ(made->canary.window, 2h);
  EXPECT_EQ(made->canary.patience, 3h);
  EXPECT_EQ(made->canary.slack, 2);
}

TEST(Settings, TakeAccountsAndQosForVirtualClusters) {
  EXPECT_EQ(read("virtual_clusters = \"accounts\"")->virtual_clusters, Grouping::accounts);
  EXPECT_EQ(read("virtual_clusters = \"qos\"")->virtual_clusters, Grouping::qos);
  EXPECT_FALSE(read("virtual_clusters = \"users\""));
  const auto canary = read("virtual_clusters = \"qos\"\n[canary]\npartitions = [\"a\"]");
  ASSERT_FALSE(canary);
  EXPECT_EQ(canary.error().where.line, 2);
}

TEST(Settings, SayWhereTheyAreWrong) {
  EXPECT_EQ(read("[levers]\norder = \"maybe\"").error().where.line, 2);
  EXPECT_EQ(read("changes_per_s = 0").error().where.line, 1);
  EXPECT_EQ(read("[order]\nwindow = [5, 5]").error().where.line, 2);
  EXPECT_EQ(read("[power]\nminimum_on = 1.5").error().where.line, 2);
  EXPECT_EQ(read("[preemption]\nby = \"force\"").error().where.line, 2);
  EXPECT_EQ(read("[idle]\nmode = \"kill\"").error().where.line, 2);
  EXPECT_EQ(read("[idle]\nbelow = 1").error().where.line, 2);
  EXPECT_EQ(read("[slimming]\nbandwidth_gbs = -1").error().where.line, 2);
  EXPECT_EQ(read("[canary]\nslack = 0.5").error().where.line, 2);
  EXPECT_EQ(read("[exemp]\nusers = []").error().hint, "did you mean exempt?");
}

}  // namespace
}  // namespace almanac::steer
