// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/pledging_pass/pledge_book.h"

#include <array>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::policy {
namespace {

using testing::ElementsAre;

using Stretch = Pledge::Stretch;

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
  EXPECT_THAT(made->stretches, ElementsAre(Stretch{8, 9, 1}));
}

TEST_F(PledgeBookTest, CountsPartOfALease) {
  at(Time{50s});
  EXPECT_TRUE(book_.least(need(100s, 150s), kAny)) << "50 s of lease 0 and of lease 1";
  EXPECT_EQ(book_.least(need(110s, 150s), kAny)->in(0), 4);
  EXPECT_FALSE(book_.least(need(201s, 150s), kAny)) << "four GPUs do 200 s of work until then";
}

TEST_F(PledgeBookTest, GivesTheFewestGpusThatAreEnough) {
  EXPECT_THAT(book_.least(need(200s, 200s), kAny)->stretches, ElementsAre(Stretch{0, 1, 1}));
  EXPECT_FALSE(book_.within(need(300s, 200s), kAny, 1));
  EXPECT_THAT(book_.least(need(300s, 200s), kAny)->stretches, ElementsAre(Stretch{0, 1, 4}));
  EXPECT_FALSE(book_.least(need(401s, 200s), kAny));
}

TEST_F(PledgeBookTest, PaysForTheRestartsThatAPledgeTakes) {
  // Another has all of lease 1: a job of two leases would stop in between.
  book_.add({.gpu_type = kAny, .stretches = {{1, 1, 4}}});
  const auto apart = book_.least(need(193s, 300s), kAny);
  ASSERT_TRUE(apart) << "100 s and 93 s, and 7 s for the restart";
  EXPECT_THAT(apart->stretches, ElementsAre(Stretch{2, 2, 1}, Stretch{0, 0, 1}));
  EXPECT_EQ(apart->in(1), 0);
  // 194 s of work: 100 s on one GPU, and 200 s on four less 30 s for the restart.
  EXPECT_FALSE(book_.within(need(194s, 300s), kAny, 1));
  EXPECT_TRUE(book_.least(need(194s, 300s), kAny));
}

TEST_F(PledgeBookTest, PaysForStoppingWhoRuns) {
  // A job that runs on one GPU and needs two leases of five is stopped first.
  const auto waits = book_.least(need(200s, 500s), kAny);
  const auto runs = book_.least(need(200s, 500s, 1), kAny);
  EXPECT_EQ(waits->stretches.back().first, 3);
  EXPECT_EQ(runs->stretches.back().first, 2) << "7 s more are two leases no more";
}

TEST_F(PledgeBookTest, TakesBackAndForgetsThePast) {
  const Pledge pledge{.gpu_type = kAny, .stretches = {{0, 2, 4}}};
  book_.add(pledge);
  EXPECT_FALSE(book_.least(need(1s, 300s), kAny));
  at(Time{150s});
  EXPECT_EQ(book_.free(kAny, 2), 0);
  book_.remove(pledge);
  EXPECT_EQ(book_.free(kAny, 1), 4);
  EXPECT_EQ(book_.free(kAny, 2), 4);
  EXPECT_TRUE(book_.least(need(1s, 300s), kAny));
}

/// GPUs lease by lease, the latest first, as PledgeBook::within() says; with the fewest words.
std::vector<int> lease_by_lease(const PledgeBook& book, const PledgeBook::Need& need, int most,
                                std::int64_t present) {
  std::vector<int> gpus;
  double left = need.work_ms;
  int next = PledgeBook::kEnds;
  for (std::int64_t lease = book.lease_at(need.deadline - Duration{1}); lease >= present; --lease) {
    Level best{.gpus = 0, .nodes = 0, .rate = 0};
    for (const Level& each : need.levels) {
      if (each.gpus <= std::min(most, book.free(kAny, lease))) best = each;
    }
    const double done = best.gpus == 0 ? 0 : book.gain(lease, best, next, need.deadline);
    gpus.push_back(done > 0 ? best.gpus : 0);
    if (gpus.back() > 0 || next != PledgeBook::kEnds) next = gpus.back();
    left -= gpus.back() > 0 ? done : 0;
    const int at_first = lease == present ? gpus.back() : 0;
    if (gpus.back() > 0 && left + book.change_ms(need.held, at_first) <= 0) return gpus;
  }
  return {};
}

RC_GTEST_PROP(PledgeBook, SkipsNothingWhereManyLeasesAreAlike, ()) {
  PledgeBook book(100s, 0s);
  std::vector<cluster::Pool> pools(1);
  pools[0].gpu_type = kAny;
  pools[0].capacity = 6;
  const std::int64_t present = *rc::gen::inRange(0, 4);
  // What lies before the present is forgotten.
  for (const Time now : {Time{0s}, Time{present * 100s + *rc::gen::inRange(0, 100) * 1s}}) {
    book.open(now, RestartCost{}, pools);
    for (int pledges = *rc::gen::inRange(0, 5); pledges > 0; --pledges) {
      const std::int64_t first = book.lease_at(now) + *rc::gen::inRange(0, 20);
      const std::int64_t last = first + *rc::gen::inRange(0, 40);
      bool fits = true;
      for (std::int64_t lease = first; lease <= last; ++lease) fits &= book.free(kAny, lease) >= 2;
      if (fits) book.add({.gpu_type = kAny, .stretches = {{first, last, 2}}});
    }
  }
  const double faster = *rc::gen::element(1.0, 1.5, 0.2);
  const std::array<Level, 2> levels{
      Level{.gpus = 1, .nodes = 1, .rate = *rc::gen::element(1.0, 0.05)},
      Level{.gpus = 4, .nodes = 1, .rate = 1 + faster}};
  const PledgeBook::Need need{.work_ms = *rc::gen::inRange(1, 4000) * 1e3 + 0.5,
                              .deadline = Time{*rc::gen::inRange(500, 8000) * 1s},
                              .levels = levels,
                              .held = *rc::gen::element(0, 1, 4)};
  const int most = *rc::gen::inRange(1, 7);
  const std::vector<int> plain = lease_by_lease(book, need, most, present);
  const auto made = book.within(need, kAny, most);
  RC_ASSERT(made.has_value() == !plain.empty());
  if (!made) return;
  double work = -book.change_ms(need.held, made->in(present));
  int next = PledgeBook::kEnds;
  std::int64_t lease = book.lease_at(need.deadline - Duration{1});
  for (const int gpus : plain) {
    RC_ASSERT(made->in(lease) == gpus);
    if (gpus > 0) work += book.gain(lease, gpus == 1 ? levels[0] : levels[1], next, need.deadline);
    if (gpus > 0 || next != PledgeBook::kEnds) next = gpus;
    --lease;
  }
  RC_ASSERT(made->stretches.back().first == lease + 1);
  RC_ASSERT(std::abs(book.work_of(*made, need) - work) < 1e-3);
  const int free = book.free(kAny, lease + 1);
  book.add(*made);
  RC_ASSERT(book.free(kAny, lease + 1) == free - plain.back());
  book.remove(*made);
  RC_ASSERT(book.free(kAny, lease + 1) == free);
}

}  // namespace
}  // namespace almanac::policy
