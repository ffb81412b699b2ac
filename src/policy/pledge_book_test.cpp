// SPDX-License-Identifier: Apache-2.0
#include "policy/pledge_book.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::policy {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kAny = 1;
/// One GPU, and four that do twice as much.
constexpr std::array<Level, 2> kOneOrFour{Level{.gpus = 1, .nodes = 1, .rate = 1},
                                          Level{.gpus = 4, .nodes = 1, .rate = 2}};

/// Leases of 100 s of four GPUs; stopping a job costs 7 s on one GPU and 30 s on four.
class PledgeBookTest : public testing::Test {
 protected:
  PledgeBookTest() {
    pools_.resize(1);
    pools_[0].gpu_type = kAny;
    pools_[0].capacity = 4;
    at(Time{0s});
  }
  void at(Time now) { book_.open(now, RestartCost{}, pools_); }
  static PledgeBook::Need need(Duration work, Duration deadline, int held = 0) {
    return {.work_ms = static_cast<double>(work.count()),
            .deadline = Time{deadline},
            .levels = kOneOrFour,
            .held = held};
  }

  std::vector<cluster::Pool> pools_;
  PledgeBook book_{100s, 0s};
};

TEST_F(PledgeBookTest, FillsFromTheDeadlineBackwards) {
  const auto made = book_.least(need(150s, 1000s), kAny);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->first, 8);
  EXPECT_THAT(made->gpus, ElementsAre(1, 1));
}

TEST_F(PledgeBookTest, CountsPartOfALease) {
  at(Time{50s});
  EXPECT_TRUE(book_.least(need(100s, 150s), kAny)) << "50 s of lease 0 and of lease 1";
  EXPECT_EQ(book_.least(need(110s, 150s), kAny)->gpus.front(), 4);
  EXPECT_FALSE(book_.least(need(201s, 150s), kAny)) << "four GPUs do 200 s of work until then";
}

TEST_F(PledgeBookTest, GivesTheFewestGpusThatAreEnough) {
  EXPECT_THAT(book_.least(need(200s, 200s), kAny)->gpus, ElementsAre(1, 1));
  EXPECT_FALSE(book_.within(need(300s, 200s), kAny, 1));
  EXPECT_THAT(book_.least(need(300s, 200s), kAny)->gpus, ElementsAre(4, 4));
  EXPECT_FALSE(book_.least(need(401s, 200s), kAny));
}

TEST_F(PledgeBookTest, PaysForTheRestartsThatAPledgeTakes) {
  // Another has all of lease 1: a job of two leases would stop in between.
  book_.add({.gpu_type = kAny, .first = 1, .gpus = {4}});
  const auto apart = book_.least(need(193s, 300s), kAny);
  ASSERT_TRUE(apart) << "100 s and 93 s, and 7 s for the restart";
  EXPECT_THAT(apart->gpus, ElementsAre(1, 0, 1));
  // 194 s of work: 100 s on one GPU, and 200 s on four less 30 s for the restart.
  EXPECT_FALSE(book_.within(need(194s, 300s), kAny, 1));
  EXPECT_TRUE(book_.least(need(194s, 300s), kAny));
}

TEST_F(PledgeBookTest, PaysForStoppingWhoRuns) {
  // Whoever runs on one GPU and needs two leases of five is stopped first.
  const auto waits = book_.least(need(200s, 500s), kAny);
  const auto runs = book_.least(need(200s, 500s, 1), kAny);
  EXPECT_EQ(waits->first, 3);
  EXPECT_EQ(runs->first, 2) << "7 s more are two leases no more";
}

TEST_F(PledgeBookTest, TakesBackAndForgetsThePast) {
  const Pledge pledge{.gpu_type = kAny, .first = 0, .gpus = {4, 4, 4}};
  book_.add(pledge);
  EXPECT_FALSE(book_.least(need(1s, 300s), kAny));
  at(Time{150s});
  EXPECT_EQ(book_.free(kAny, 2), 0);
  book_.remove(pledge);
  EXPECT_EQ(book_.free(kAny, 1), 4);
  EXPECT_EQ(book_.free(kAny, 2), 4);
  EXPECT_TRUE(book_.least(need(1s, 300s), kAny));
}

}  // namespace
}  // namespace almanac::policy
