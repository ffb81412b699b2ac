// SPDX-License-Identifier: Apache-2.0
#include "report/paired.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "support/temporary_folder.h"

namespace almanac::report {
namespace {

class PairedRuns : public testing::Test {
 protected:
  /// `jobs` jobs a day for `days` days, each with the wait that `wait` gives for (day, job).
  template <typename Wait>
  PairedPolicy policy(const std::string& name, int days, int jobs, Wait&& wait) {
    std::string text = "job_id,submit_s,wait_s\n";
    for (int day = 0; day < days; ++day) {
      for (int job = 0; job < jobs; ++job) {
        text += fmt::format("{},{},{}\n", day * jobs + job, day * 86'400 + job, wait(day, job));
      }
    }
    return {name, folder_.write(name + ".csv", text)};
  }
  TemporaryFolder folder_;
};

TEST_F(PairedRuns, SeesADifferenceThatIsThereEachDay) {
  Rng rng(1);
  const auto base = policy("fifo", 20, 5, [](int day, int) { return 1000 + 100 * (day % 3); });
  const auto other = policy("easy", 20, 5, [&](int day, int job) {
    return 1000 + 100 * (day % 3) - (job == 0 ? -5.0 : 50 + static_cast<double>(rng.below(20)));
  });
  const auto made = paired(base, {other});
  ASSERT_TRUE(made) << to_string(made.error());
  const Paired& each = made->front();
  EXPECT_EQ(each.jobs, 100U);
  EXPECT_EQ(each.unpaired, 0U);
  EXPECT_DOUBLE_EQ(each.shorter, 0.8);
  EXPECT_DOUBLE_EQ(each.longer, 0.2);
  ASSERT_TRUE(each.sure);
  EXPECT_LT(each.sure->to_s, -40);
  EXPECT_LT(each.sure->from_s, each.change_s);
  EXPECT_EQ(each.days_a_block, 1);
  EXPECT_LT(each.sure->p, 0.001);
}

TEST_F(PairedRuns, SeesNoneInNoise) {
  Rng rng(3);
  const auto base = policy("fifo", 30, 4, [](int, int) { return 500; });
  const auto other =
      policy("easy", 30, 4, [&](int, int) { return 400.0 + static_cast<double>(rng.below(200)); });
  const auto made = paired(base, {other});
  ASSERT_TRUE(made);
  ASSERT_TRUE(made->front().sure);
  EXPECT_LT(made->front().sure->from_s, 0);
  EXPECT_GT(made->front().sure->to_s, 0);
  EXPECT_GT(made->front().sure->p, 0.05);
}

/// Jobs of a day are one observation, not a hundred: two days prove nothing.
TEST_F(PairedRuns, IsNotSureOfAFewDays) {
  const auto base = policy("fifo", 5, 500, [](int, int) { return 500; });
  const auto other = policy("easy", 5, 500, [](int, int) { return 5; });
  const auto made = paired(base, {other});
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->front().sure);
  EXPECT_EQ(made->front().blocks, 5U);
}

TEST_F(PairedRuns, JoinsDaysThatHangTogether) {
  // Eight days up, eight days down, by the same amounts.
  const auto base = policy("fifo", 64, 3, [](int, int) { return 10'000; });
  const auto other = policy("easy", 64, 3, [](int day, int) {
    return 10'000 + (day / 8 % 2 == 0 ? 1000 : -1000) + day % 4;
  });
  const auto made = paired(base, {other});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->front().days_a_block, 4);
  ASSERT_TRUE(made->front().sure);
  EXPECT_GT(made->front().sure->p, 0.5);
  // One queue as long as the log: no length of blocks would do.
  const auto drift = policy("las", 40, 3, [](int day, int) { return 100 * (day - 20) + 10'000; });
  const auto hangs = paired(base, {drift});
  ASSERT_TRUE(hangs);
  EXPECT_FALSE(hangs->front().sure);
}

TEST_F(PairedRuns, LeavesOutJobsThatEndedUnderOneOnly) {
  const PairedPolicy base{
      "fifo", folder_.write("fifo.csv", "job_id,submit_s,wait_s\na,0,10\nb,5,20\nc,6,\n")};
  const PairedPolicy other{
      "easy", folder_.write("easy.csv", "job_id,submit_s,wait_s\na,0,4\nb,5,\nc,6,7\n")};
  const auto made = paired(base, {other});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->front().jobs, 1U);
  EXPECT_EQ(made->front().unpaired, 2U);
  EXPECT_DOUBLE_EQ(made->front().change_s, -6);
  const PairedPolicy foreign{"x", folder_.write("x.csv", "job_id,submit_s,wait_s\nz,0,4\n")};
  const auto none = paired(base, {foreign});
  ASSERT_FALSE(none);
  EXPECT_NE(to_string(none.error()).find("no job in common"), std::string::npos);
}

}  // namespace
}  // namespace almanac::report
