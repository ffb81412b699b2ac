// SPDX-License-Identifier: Apache-2.0
#include "energy/power_fit.h"

#include <gtest/gtest.h>

#include "energy/power_file.h"
#include "support/shared_data.h"
#include "support/temporary_folder.h"

namespace almanac::energy {
namespace {

constexpr PowerCurve kTrue{.idle = 0.2, .full = 0.9, .bend = 1.7, .strain = 2.4};

/// What a board of 200 W with the curve kTrue would measure.
PowerProfile exact_profile() {
  PowerProfile profile{.jobs = {}, .limit_w = 200, .least_limit_w = 80};
  for (int job = 0; job < 6; ++job) {
    const double use = job / 5.0;
    PowerJob made{.network = job % 2 == 0 ? "even" : "odd", .rows = {}};
    for (const double limit_w : {80.0, 120.0, 160.0, 200.0}) {
      const double limit = limit_w / 200;
      made.rows.push_back({.limit_w = limit_w,
                           .time_s = 60 / kTrue.speed(use, limit),
                           .draw_w = 200 * kTrue.draw(use, limit)});
    }
    profile.jobs.push_back(made);
  }
  return profile;
}

TEST(PowerFit, FindsTheCurveThatMadeTheData) {
  const auto fit = fit_power(exact_profile());
  ASSERT_TRUE(fit.has_value()) << to_string(fit.error());
  EXPECT_NEAR(fit->curve.idle, kTrue.idle, 1e-9);
  EXPECT_NEAR(fit->curve.full, kTrue.full, 1e-9);
  EXPECT_NEAR(fit->curve.bend, kTrue.bend, 1e-3);
  EXPECT_NEAR(fit->curve.strain, kTrue.strain, 1e-3);
  EXPECT_NEAR(fit->errors.draw_w, 0, 0.01);
  EXPECT_NEAR(fit->errors.speed, 0, 1e-4);
  EXPECT_EQ(fit->rows, 18);
  EXPECT_EQ(fit->networks, 2);
}

// One job of 100 W at full use of the board, none of it above 50 W: it draws 100 W freely and 60 W
// under a limit of 60 W, where it takes twice as long. A curve that knows no limit errs by 40 W,
// 0.5.
TEST(PowerFit, ErrorsByHand) {
  const PowerProfile profile{.jobs = {{.network = "a", .rows = {{60, 20, 60}, {100, 10, 100}}}},
                             .limit_w = 100};
  const PowerCurve sharp{.idle = 0.2, .full = 1, .bend = 1, .strain = 1};
  // x = 1, h = (60 - 20) / 80 = 1/2: y = 1/2, so 60 W and half the speed.
  const PowerErrors right = judge_curve(profile, sharp);
  EXPECT_NEAR(right.draw_w, 0, 1e-12);
  EXPECT_NEAR(right.speed, 0, 1e-12);
  const PowerCurve gentle{.idle = 0.2, .full = 1, .bend = 1, .strain = 2};
  EXPECT_NEAR(judge_curve(profile, gentle).speed, 0.25, 1e-12);  // says 3/4
}

// The jobs of exact_profile() use 0, 0.4, 0.8 ("even") and 0.2, 0.6, 1 ("odd") of the board.
TEST(PowerFit, TellsHowMuchEachNetworkUsesAGpu) {
  const auto fit = fit_power(exact_profile());
  ASSERT_TRUE(fit.has_value()) << to_string(fit.error());
  ASSERT_EQ(fit->uses.size(), 2);
  EXPECT_EQ(fit->uses[0].network, "even");
  EXPECT_NEAR(fit->uses[0].use, 0.4, 1e-6);
  EXPECT_NEAR(fit->uses[1].use, 0.6, 1e-6);
  EXPECT_NEAR(mean_use(fit->uses), 0.5, 1e-6);
  EXPECT_EQ(mean_use({}), 1) << "where nothing is known, the most is feared";
  EXPECT_GT(fit->speed_by_network, fit->errors.speed) << "its jobs differ";
  EXPECT_GT(fit->speed_unseen, fit->speed_by_network);
}

TEST(PowerFit, NeedsTwoNetworksThatDiffer) {
  PowerProfile one = exact_profile();
  for (PowerJob& job : one.jobs) job.network = "even";
  EXPECT_FALSE(fit_power(one).has_value());
  PowerProfile alike = exact_profile();
  for (PowerJob& job : alike.jobs) {
    for (PowerRow& row : job.rows) row.draw_w = 50;
  }
  EXPECT_FALSE(fit_power(alike).has_value());
}

constexpr const char* kHeader =
    "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\n";

TEST(PowerProfile, KeepsJobsMeasuredAtTheHighestLimitAndBelow) {
  const TemporaryFolder folder;
  const auto read = read_power_profile(folder.write(
      "p.csv", std::string(kHeader) + "d,n,8,adam,100,20,60\nd,n,8,adam,200,10,110\n"
                                      "d,n,16,adam,100,20,60\nd,m,8,adam,200,10,100\n"));
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  ASSERT_EQ(read->jobs.size(), 1);
  EXPECT_EQ(read->jobs[0].network, "n");
  EXPECT_EQ(read->jobs[0].rows.size(), 2);
  EXPECT_EQ(read->dropped, 2);
  EXPECT_EQ(read->limit_w, 200);
  EXPECT_EQ(read->least_limit_w, 100);
}

TEST(PowerProfile, SaysWhatIsWrongAndWhere) {
  const TemporaryFolder folder;
  const auto says = [&](const std::string& content, const std::string& error) {
    const auto read = read_power_profile(folder.write("p.csv", content));
    ASSERT_FALSE(read.has_value());
    EXPECT_NE(to_string(read.error()).find(error), std::string::npos) << to_string(read.error());
  };
  says("dataset,network,batch_size,optimizer,limit,time_per_epoch,average_power\nd,n,8,a,1,1,1\n",
       "p.csv:1: column power_limit is missing");
  says(std::string(kHeader) + "d,n,8,adam,100,soon,60\n",
       "p.csv:2: time_per_epoch must be a number above 0, found \"soon\"");
  says(std::string(kHeader) + "d,n,8,adam,100,0,60\n", "time_per_epoch must be a number above 0");
  says(std::string(kHeader) + "d,n,8,adam,100,10,60\n", "no job was measured at two power limits");
}

/// The presets hold what the fit of the public measurements says, to the digits that they keep.
class ZeusProfile : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ZeusProfile, IsWhatThePresetSays) {
  const auto [file, preset] = GetParam();
  const auto path = shared_path(std::string("data/profiles/zeus/summary_power_") + file + ".csv");
  if (!path) GTEST_SKIP() << "the Zeus profiles are not at hand";
  const auto fit = fit_power(read_power_profile(*path).value());
  ASSERT_TRUE(fit.has_value()) << to_string(fit.error());
  const PowerModel board = read_power(preset).value();
  const PowerCurve& kept = board.gpu_curve;
  EXPECT_NEAR(kept.idle, fit->curve.idle, 6e-5);
  EXPECT_NEAR(kept.full, fit->curve.full, 6e-5);
  EXPECT_NEAR(kept.bend, fit->curve.bend, 6e-4);
  EXPECT_NEAR(kept.strain, fit->curve.strain, 6e-4);
  ASSERT_EQ(board.gpu_use.size(), fit->uses.size());
  for (std::size_t at = 0; at < fit->uses.size(); ++at) {
    EXPECT_EQ(board.gpu_use[at].network, fit->uses[at].network);
    EXPECT_NEAR(board.gpu_use[at].use, fit->uses[at].use, 6e-4);
  }
  // docs/guide/energy.md: jobs of networks that the fit has not seen are told within 7.5 W and 7.5
  // %.
  EXPECT_LT(fit->held_out.draw_w, 7.5);
  EXPECT_LT(fit->held_out.speed, 0.075);
  // There too: 10.1 % where only the network is known, and better than to take a limit for none.
  EXPECT_LT(fit->speed_by_network, 0.102);
  const PowerProfile profile = read_power_profile(*path).value();
  const double ignored = judge_curve(profile, kept, "", 0).speed;
  EXPECT_LT(fit->speed_by_network, ignored);
  EXPECT_LT(fit->speed_unseen, ignored);
}

INSTANTIATE_TEST_SUITE_P(Boards, ZeusProfile,
                         testing::Values(std::pair{"v100", "dgx1"}, std::pair{"a40", "a40"},
                                         std::pair{"rtx6000", "rtx6000"},
                                         std::pair{"p100", "p100"}),
                         [](const auto& board) { return board.param.first; });

}  // namespace
}  // namespace almanac::energy
