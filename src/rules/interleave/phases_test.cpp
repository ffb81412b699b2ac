// SPDX-License-Identifier: Apache-2.0
#include "rules/interleave/phases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::interleave {
namespace {

TEST(Phases, OfOneJobFollowEachOther) {
  EXPECT_DOUBLE_EQ(round_robin_period(std::array{Phases{300, 120, 10}}), 420) << "no switching";
}

TEST(Phases, ThatFitIntoEachOtherSlowNoJob) {
  const std::array jobs{Phases{300, 120}, Phases{120, 300}};
  EXPECT_DOUBLE_EQ(round_robin_period(jobs), 420);
}

TEST(Phases, TwoLongRolloutsFollowEachOther) {
  const std::array jobs{Phases{300, 100}, Phases{250, 100}};
  EXPECT_DOUBLE_EQ(round_robin_period(jobs), 550) << "training takes place during rollouts";
}

TEST(Phases, EachJobLoadsItsStateTwiceInAPeriod) {
  const std::array jobs{Phases{300, 120, 10}, Phases{120, 300, 10}};
  EXPECT_DOUBLE_EQ(round_robin_period(jobs), 440);
}

TEST(Phases, AGuestUsesIdlePhases) {
  // The host's period is 400 s: the rollout GPUs are idle for 100 s and the others for 300 s.
  const std::array host{Phases{300, 100}};
  EXPECT_DOUBLE_EQ(part_in_idle_phases({50, 150}, host), 1) << "two iterations of 200 s";
  EXPECT_DOUBLE_EQ(part_in_idle_phases({100, 100}, host), 0.5) << "rollouts: one of 200 s";
  EXPECT_DOUBLE_EQ(part_in_idle_phases({10, 0}, host), 0.25);
}

/// Plays jobs in round robin, each phase as early as possible, and returns the seconds of the last
/// of many rounds.
double played_period(const std::vector<Phases>& jobs) {
  constexpr int kRounds = 200;
  std::vector<double> trained(jobs.size(), 0);
  double rollouts_end = 0;
  double trainings_end = 0;
  double before = 0;
  for (int round = 0; round < kRounds; ++round) {
    before = trained.back();
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      const double switching = jobs.size() > 1 ? jobs[job].switching : 0;
      rollouts_end = std::max(rollouts_end, trained[job]) + switching + jobs[job].rollout;
      trainings_end = std::max(trainings_end, rollouts_end) + switching + jobs[job].training;
      trained[job] = trainings_end;
    }
  }
  return trained.back() - before;
}

RC_GTEST_PROP(Phases, RoundRobinReachesThePeriod, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 6);
  std::vector<Phases> jobs;
  for (std::size_t job = 0; job < count; ++job) {
    jobs.push_back({static_cast<double>(*rc::gen::inRange(1, 500)),
                    static_cast<double>(*rc::gen::inRange(1, 500)),
                    static_cast<double>(*rc::gen::inRange(0, 20))});
  }
  RC_ASSERT(std::abs(played_period(jobs) - round_robin_period(jobs)) < 1e-6);
}

}  // namespace
}  // namespace almanac::interleave
