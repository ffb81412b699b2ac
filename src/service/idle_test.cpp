// SPDX-License-Identifier: Apache-2.0
#include "service/idle.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::service {
namespace {

constexpr store::JobNumber kJob{7};

/// Looks every minute.
class IdleWatchTest : public testing::Test {
 protected:
  IdleStep look(double use, std::int32_t attempt = 1) {
    now_ += 1min;
    return watch_.take(kJob, attempt, {now_ - 1min, now_, use});
  }
  /// All that so many looks asked for.
  std::vector<IdleStep> looks(int count, double use) {
    std::vector<IdleStep> made;
    for (; count > 0; --count) {
      const IdleStep step = look(use);
      if (step != IdleStep::nothing) made.push_back(step);
    }
    return made;
  }

  using Steps = std::vector<IdleStep>;
  Time now_{1h};
  IdleWatch watch_{{.mode = IdleMode::requeue, .after = 30min, .grace = 10min}};
};

TEST_F(IdleWatchTest, WarnsOnceAndActsOnceAfterTheGrace) {
  EXPECT_EQ(looks(29, 0), Steps{});
  EXPECT_EQ(looks(1, 0), Steps{IdleStep::warn});
  EXPECT_EQ(looks(9, 0), Steps{});
  EXPECT_EQ(looks(1, 0), Steps{IdleStep::act});
  EXPECT_EQ(looks(100, 0), Steps{}) << "what could not be done is not done again and again";
}

TEST_F(IdleWatchTest, BeginsAnewWhenTheGpusCompute) {
  EXPECT_EQ(looks(30, 0), Steps{IdleStep::warn});
  EXPECT_EQ(looks(1, 0.5), Steps{IdleStep::busy_again});
  EXPECT_EQ(looks(29, 0), Steps{});
  EXPECT_EQ(looks(1, 0.009), Steps{IdleStep::warn});
}

TEST_F(IdleWatchTest, BelievesNothingOfTimeInWhichNobodyLooked) {
  EXPECT_EQ(looks(29, 0), Steps{});
  now_ += 5min;
  EXPECT_EQ(looks(29, 0), Steps{});
}

TEST_F(IdleWatchTest, BeginsAnewWithARun) {
  EXPECT_EQ(looks(29, 0), Steps{});
  EXPECT_EQ(look(0, 2), IdleStep::nothing);
}

TEST(IdleRule, IsReadFromAFile) {
  const TemporaryFolder folder;
  const auto rule = read_idle_rule(folder.write(
      "idle.toml",
      "mode = \"requeue\"\nafter_min = 60\ngrace_min = 5\nbelow = 0.05\nexempt = [\"ann\"]\n"));
  ASSERT_TRUE(rule) << to_string(rule.error());
  EXPECT_EQ(rule->mode, IdleMode::requeue);
  EXPECT_EQ(rule->after, 1h);
  EXPECT_EQ(rule->grace, 5min);
  EXPECT_FALSE(rule->is_for("ann"));
  EXPECT_TRUE(rule->is_for("bob"));
  EXPECT_EQ(read_idle_rule(folder.write("none.toml", ""))->mode, IdleMode::dry)
      << "a file that says nothing does nothing";
  const auto canary = read_idle_rule(folder.write("canary.toml", "only = [\"bob\"]\n"));
  EXPECT_FALSE(canary->is_for("cem"));
  const auto wrong = read_idle_rule(folder.write("wrong.toml", "mode = \"kill\"\n"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().where.line, 1);
  EXPECT_EQ(wrong.error().message, "mode must be \"off\", \"dry\", \"notify\" or \"requeue\"");
}

}  // namespace
}  // namespace almanac::service
