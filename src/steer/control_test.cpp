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
  constexpr int kTimes = 200;
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

}  // namespace
}  // namespace almanac::steer
