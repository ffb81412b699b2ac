// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/market.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::timeshare {
namespace {

using Rounds = std::vector<int>;
using Plan = std::vector<std::vector<std::size_t>>;

/// The straight pieces of the logarithm, from 1e-6 in place of 0.
double worth_of(double done) {
  const double at[] = {std::log(1e-6), std::log(0.2), std::log(0.4),
                       std::log(0.6),  std::log(0.8), 0};
  const double place = std::min(done, 1.0) * 5;
  const int below = std::min(4, static_cast<int>(place));
  return at[below] + (at[below + 1] - at[below]) * (place - below);
}

double worth_of(const Window& window, const std::vector<Buyer>& buyers, const Rounds& rounds) {
  double sum = 0;
  double longest_s = 0;
  for (std::size_t at = 0; at < buyers.size(); ++at) {
    const Buyer& buyer = buyers[at];
    const double ran_s = rounds[at] * window.round_s;
    const double done = buyer.done + (1 - buyer.done) * ran_s / buyer.left_s;
    sum += buyer.weight * worth_of(done) / (static_cast<double>(buyers.size()) * window.rounds);
    longest_s = std::max(longest_s, buyer.left_s - ran_s);
  }
  return sum - window.makespan_worth * longest_s;
}

double best_of(const Window& window, const std::vector<Buyer>& buyers, Rounds& rounds,
               double gpus) {
  if (rounds.size() == buyers.size()) return worth_of(window, buyers, rounds);
  const Buyer& buyer = buyers[rounds.size()];
  double most = -std::numeric_limits<double>::infinity();
  for (int count = 0; count <= window.rounds && count * buyer.gpus <= gpus; ++count) {
    if (count > std::ceil(buyer.left_s / window.round_s)) break;
    rounds.push_back(count);
    most = std::max(most, best_of(window, buyers, rounds, gpus - count * buyer.gpus));
    rounds.pop_back();
  }
  return most;
}

/// Returns the worth of what the market sells with no more than `bound_s` left of any job that can
/// have so little: the rounds that this takes, then one round after the other to the job that gains
/// most for a GPU by its next one. Minus infinity if there are too few GPUs.
double worth_within(const Window& window, const std::vector<Buyer>& buyers, double bound_s) {
  Rounds rounds;
  Rounds most;
  double gpus = window.gpus * window.rounds;
  for (const Buyer& buyer : buyers) {
    const double needed_s = std::max({0.0, buyer.least_s, buyer.left_s - bound_s});
    const auto rounds_of = [&](double run_s) {
      return std::min(window.rounds, static_cast<int>(std::ceil(run_s / window.round_s - 1e-9)));
    };
    most.push_back(rounds_of(buyer.left_s));
    rounds.push_back(std::min(most.back(), rounds_of(needed_s)));
    gpus -= rounds.back() * buyer.gpus;
  }
  if (gpus < 0) return -std::numeric_limits<double>::infinity();
  const auto gain = [&](std::size_t at) {
    const Buyer& buyer = buyers[at];
    const double step = (1 - buyer.done) * window.round_s / buyer.left_s;
    const double done = buyer.done + rounds[at] * step;
    return (worth_of(done + step) - worth_of(done)) * buyer.weight / buyer.gpus;
  };
  std::vector<bool> buys(buyers.size(), true);
  while (true) {
    std::size_t next = buyers.size();
    for (std::size_t at = 0; at < buyers.size(); ++at) {
      if (!buys[at] || rounds[at] == most[at]) continue;
      // Gains that differ by rounding are equal, and the first job comes first.
      if (next == buyers.size() || gain(at) > gain(next) * (1 + 1e-9) + 1e-12) next = at;
    }
    if (next == buyers.size()) return worth_of(window, buyers, rounds);
    if (buyers[next].gpus > gpus) {
      buys[next] = false;
      continue;
    }
    ++rounds[next];
    gpus -= buyers[next].gpus;
  }
}

TEST(Market, SellsRoundsToWhatGainsMostByThem) {
  const Window window{.gpus = 1, .rounds = 4, .round_s = 10, .makespan_worth = 0};
  // Half of the first, a quarter of the second: to 0.2 of a job each fifth is worth the same.
  EXPECT_EQ(buy_rounds(window, {{.left_s = 20}, {.left_s = 40}}), (Rounds{2, 2}));
  EXPECT_EQ(buy_rounds(window, {{.left_s = 20}, {.left_s = 40, .weight = 50}}), (Rounds{0, 4}));
}

TEST(Market, ShortensTheLongestWhereThatIsWorthMore) {
  const Window window{.gpus = 1, .rounds = 4, .round_s = 10, .makespan_worth = 100};
  EXPECT_EQ(buy_rounds(window, {{.left_s = 20}, {.left_s = 40}}), (Rounds{1, 3}));
}

TEST(Market, GivesWhatAJobMustHaveOrSaysThatItCannot) {
  const Window window{.gpus = 1, .rounds = 4, .round_s = 10, .makespan_worth = 0};
  EXPECT_EQ(buy_rounds(window, {{.left_s = 20}, {.left_s = 400, .least_s = 31}}), (Rounds{0, 4}));
  EXPECT_TRUE(
      buy_rounds(window, {{.left_s = 20, .least_s = 20}, {.left_s = 40, .least_s = 31}}).empty());
  EXPECT_TRUE(buy_rounds(window, {}).empty());
}

// Each round of a job is worth the same within a piece of the logarithm. Rounding must not put the
// second before the first, because it is not sold then.
TEST(Market, SellsAllRoundsThatAreWorthTheSame) {
  const Window window{.gpus = 1, .rounds = 2, .round_s = 10, .makespan_worth = 0};
  EXPECT_EQ(buy_rounds(window, {{.done = 0.8, .left_s = 22, .weight = 4},
                                {.done = 0.45, .left_s = 55, .weight = 1}}),
            (Rounds{2, 0}));
}

TEST(Market, DealsRoundsSoThatEachHasItsOwn) {
  const Window window{.gpus = 2, .rounds = 3, .round_s = 10};
  const std::vector<Buyer> buyers{{.gpus = 2}, {.gpus = 1}, {.gpus = 1}};
  // No way gives the second all rounds and the first, of two GPUs, one.
  EXPECT_EQ(deal_rounds(window, buyers, {1, 3, 1}), (Plan{{1, 2}, {1}, {0}}));
  EXPECT_EQ(deal_rounds(window, buyers, {1, 2, 1}), (Plan{{0}, {1, 2}, {1}}));
}

TEST(Market, RunsLateJobsFirst) {
  const Window window{.gpus = 1, .rounds = 20, .round_s = 10};
  const Claim soon{.age_s = 5, .left_s = 20, .fair_jct_s = 100};
  const Claim late{.age_s = 90, .left_s = 50, .fair_jct_s = 100};
  const Plan plan = plan_rounds(window, {soon, late});
  EXPECT_EQ(plan[0], (std::vector<std::size_t>{1}));
  EXPECT_EQ(plan[5], (std::vector<std::size_t>{0}));
}

// The first job's lateness to the power of 100 is no number. It runs, and the other round still
// goes to the job that shortens the longest remaining run time.
TEST(Market, PlansForOthersNextToAJobThatIsLateBeyondNumbers) {
  const Window window{.gpus = 1, .rounds = 2, .round_s = 10, .makespan_worth = 100};
  const Claim late{.age_s = 1e6, .left_s = 5, .fair_jct_s = 1};
  const Claim shorter{.left_s = 20, .fair_jct_s = 1e6};
  const Claim longest{.left_s = 40, .fair_jct_s = 1e6};
  EXPECT_EQ(plan_rounds(window, {late, shorter, longest}), (Plan{{0}, {2}}));
}

TEST(Market, PlansTheNextRoundAsTheFirstOfAll) {
  const Window window{.gpus = 2, .rounds = 5, .round_s = 10};
  const std::vector<Claim> claims{{.left_s = 90, .fair_jct_s = 100},
                                  {.gpus = 2, .age_s = 20, .left_s = 30, .fair_jct_s = 100},
                                  {.age_s = 10, .left_s = 20, .fair_jct_s = 200}};
  EXPECT_EQ(plan_next_round(window, claims), plan_rounds(window, claims).front());
}

TEST(Market, AveragesWhenAJobWouldEnd) {
  FairEnd end;
  end.estimate(100, 0);
  EXPECT_DOUBLE_EQ(end.at(0), 100);
  end.estimate(200, 30);
  EXPECT_DOUBLE_EQ(end.at(30), 0.9 * 100 + 0.1 * 200);
  EXPECT_DOUBLE_EQ(end.at(60), 0.9 * 150 + 0.1 * 200);
}

RC_GTEST_PROP(Market, IsWorthAsMuchAsTheBestOfAllWaysForJobsOfOneGpu, ()) {
  Window window{.gpus = *rc::gen::inRange(1, 4) * 1.0,
                .rounds = *rc::gen::inRange(1, 5),
                .round_s = 10,
                .makespan_worth = *rc::gen::element(0.0, 1e-3, 0.1, 1.0)};
  std::vector<Buyer> buyers;
  for (int count = *rc::gen::inRange(1, 5); count > 0; --count) {
    buyers.push_back({.done = *rc::gen::inRange(0, 100) / 100.0,
                      .left_s = *rc::gen::inRange(1, 80) * 1.0,
                      .weight = *rc::gen::inRange(1, 9) * 1.0});
  }
  Rounds empty;
  const double most = best_of(window, buyers, empty, window.gpus * window.rounds);
  const double ours = worth_of(window, buyers, buy_rounds(window, buyers));
  RC_ASSERT(ours <= most + 1e-9);
  RC_ASSERT(ours >= most - 1e-9);
}

// The market tries few of the bounds: those that it leaves out lead to nothing better. Bounds that
// some job cannot meet shorten nothing. Jobs have different weights, so that no two gain the same.
RC_GTEST_PROP(Market, SellsTheBestOfWhatEachBoundOfTheRemainingRunTimeLeadsTo, ()) {
  const Window window{.gpus = *rc::gen::inRange(2, 12) / 2.0,
                      .rounds = *rc::gen::inRange(1, 8),
                      .round_s = 10,
                      .makespan_worth = *rc::gen::element(0.0, 1e-4, 1e-3, 0.1)};
  std::vector<Buyer> buyers;
  std::vector<double> bounds_s;
  double least_s = -std::numeric_limits<double>::infinity();
  for (int count = *rc::gen::inRange(1, 9); count > 0; --count) {
    buyers.push_back({.gpus = *rc::gen::inRange(1, 5),
                      .done = *rc::gen::element(0.0, 0.1, 0.35, 0.9),
                      .left_s = *rc::gen::inRange(1, 120) * 1.0,
                      .weight = *rc::gen::inRange(1, 4) + 0.01 * count * count,
                      .least_s = *rc::gen::element(0.0, 0.0, 15.0)});
    const Buyer& buyer = buyers.back();
    const int most = static_cast<int>(std::ceil(buyer.left_s / window.round_s));
    for (int round = 0; round <= std::min(window.rounds, most); ++round) {
      bounds_s.push_back(buyer.left_s - round * window.round_s);
    }
    least_s = std::max(least_s, bounds_s.back());
  }
  double most = -std::numeric_limits<double>::infinity();
  for (const double bound_s : bounds_s) {
    if (bound_s >= least_s) most = std::max(most, worth_within(window, buyers, bound_s));
  }
  const Rounds sold = buy_rounds(window, buyers);
  RC_ASSERT(sold.empty() == std::isinf(most));
  if (!sold.empty()) RC_ASSERT(std::abs(worth_of(window, buyers, sold) - most) < 1e-9);
}

// Pareto efficiency: no round is left that a job could use, so none can have more unless another
// has less.
RC_GTEST_PROP(Market, LeavesNoRoundThatAJobCouldUse, ()) {
  const Window window{.gpus = *rc::gen::inRange(1, 6) * 1.0,
                      .rounds = *rc::gen::inRange(1, 8),
                      .round_s = 10,
                      .makespan_worth = *rc::gen::element(0.0, 1e-3, 0.1, 1.0)};
  std::vector<Buyer> buyers;
  int wanted = 0;
  for (int count = *rc::gen::inRange(1, 9); count > 0; --count) {
    buyers.push_back({.done = *rc::gen::inRange(0, 100) / 100.0,
                      .left_s = *rc::gen::inRange(1, 100) * 1.0,
                      .weight = *rc::gen::inRange(1, 9) * 1.0});
    const int needed = static_cast<int>(std::ceil(buyers.back().left_s / window.round_s));
    wanted += std::min(window.rounds, needed);
  }
  const std::vector<int> sold = buy_rounds(window, buyers);
  const int there = static_cast<int>(window.gpus) * window.rounds;
  RC_ASSERT(std::accumulate(sold.begin(), sold.end(), 0) == std::min(there, wanted));
}

}  // namespace
}  // namespace almanac::timeshare
