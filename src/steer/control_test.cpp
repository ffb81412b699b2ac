// SPDX-License-Identifier: Apache-2.0
#include "steer/control.h"

#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

TEST(SwitchesTest, LoseNothingWhenTwoChangeThemAtOnce) {
  const TemporaryFolder folder;
  const std::string state = folder / ".";
  constexpr int kTimes = 40;
  const auto turns = [&](const std::string& lever) {
    for (int time = 0; time < kTimes; ++time) {
      const Switch how = time % 2 == 0 ? Switch::on : Switch::dry;
      ASSERT_TRUE(change_switches(state, [&](Switches& all) { all[lever] = how; }));
      ASSERT_EQ(read_switches(state)->at(lever), how) << lever << ", " << time;
    }
  };
  std::thread other([&] { turns("power"); });
  turns("order");
  other.join();
}

TEST(SwitchesTest, BeginAnewWhereTheFileIsCorrupt) {
  const TemporaryFolder folder;
  const std::string state = folder / ".";
  std::ofstream(folder / "levers.json") << "{";
  EXPECT_EQ(read_switches(state).error().code, Code::corrupt);
  ASSERT_TRUE(change_switches(state, [](Switches& all) { all["order"] = Switch::on; }));
  EXPECT_EQ(read_switches(state), (Switches{{"order", Switch::on}}));
}

TEST(SwitchesTest, SayThatThereIsNoSuchFolder) {
  const auto done = change_switches("/nowhere/at/all", [](Switches&) {});
  EXPECT_EQ(done.error().code, Code::unavailable);
}

TEST(StatusTest, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  const std::string state = folder / ".";
  const Status written{
      .at = Time{1'000'000'250ms},
      .process = 17,
      .manager = {.name = "slurm",
                  .cluster = "helios",
                  .way = "gateway",
                  .excluded = 3,
                  .levers = {{.name = "order", .how = Switch::on, .next = {"job 1"}, .done = 9}},
                  .agents = {{.node = "n1", .load = 1.5, .io_pressure = 0.25, .jobs = 2}}},
      .policy = "qssf",
      .waiting = 4,
      .warnings = {"\xff is no UTF-8"},
      .left = {"not taken back"}};
  ASSERT_TRUE(write_status(state, written));
  const auto read = read_status(state);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->at, written.at);
  EXPECT_EQ(read->process, 17);
  EXPECT_EQ(read->manager.cluster, "helios");
  EXPECT_EQ(read->manager.excluded, 3);
  const service::LeverView& lever = read->manager.levers.at(0);
  EXPECT_EQ(lever.how, Switch::on);
  EXPECT_EQ(lever.next, std::vector<std::string>{"job 1"});
  EXPECT_EQ(lever.done, 9U);
  const service::AgentView& agent = read->manager.agents.at(0);
  EXPECT_EQ(agent.node, "n1");
  EXPECT_FALSE(agent.cpu_pressure);
  EXPECT_EQ(agent.io_pressure, 0.25);
  EXPECT_EQ(read->waiting, 4);
  EXPECT_EQ(read->left, written.left);
  std::ofstream(folder / "status.json") << "{}";
  EXPECT_EQ(read_status(state).error().code, Code::corrupt);
}

}  // namespace
}  // namespace almanac::steer
