// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/andreas/greedy_search.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::policy {
namespace {

using GreedyAsk = GreedySearch::Ask;
using GreedyWay = GreedySearch::Way;

constexpr double kLateCost = 1000;
constexpr double kFirstEnd_s = 30;

struct GreedyPuzzle {
  std::vector<Stock> left{};
  std::vector<GreedyAsk> jobs{};
};

/// Up to four jobs on two types. No way is late by itself, so that waiting alone can cost
/// tardiness.
GreedyPuzzle greedy_puzzle(std::uint64_t seed) {
  Rng rng(seed);
  const auto whole = [&](std::uint64_t most) { return 1 + static_cast<int>(rng.below(most)); };
  GreedyPuzzle made;
  for (const std::uint64_t type : {1, 2}) {
    made.left.push_back({.gpu_type = type, .milli = 1000 * whole(3)});
  }
  for (int job = whole(4); job > 0; --job) {
    GreedyAsk& each =
        made.jobs.emplace_back(GreedyAsk{.job = JobId{static_cast<std::uint32_t>(job)}});
    for (int ways = whole(4); ways > 0; --ways) {
      const int gpus = whole(2);
      each.ways.push_back({.type = std::uint64_t{1} << rng.below(2),
                           .gpus = gpus,
                           .milli = 1000 * gpus,
                           .time_s = static_cast<double>(whole(40)),
                           .cost = static_cast<double>(whole(90))});
    }
    if (rng.below(2) == 0) each.due_s = 40 + whole(50);
  }
  return made;
}

/// The cost of an outcome, whichever job chose first; infinite where GPUs are lacking.
double outcome_cost(const GreedyPuzzle& puzzle, const std::vector<const GreedyWay*>& ways) {
  double first_end_s = kFirstEnd_s, cost = 0;
  std::vector<Stock> left = puzzle.left;
  for (const GreedyWay* const way : ways) {
    if (way == nullptr) continue;
    Stock& stock = left[way->type - 1];
    stock.milli -= way->milli;
    if (stock.milli < 0) return GreedySearch::kForever;
    first_end_s = std::min(first_end_s, way->time_s);
    cost += way->cost;
  }
  for (std::size_t at = 0; at < ways.size(); ++at) {
    if (ways[at] != nullptr) continue;
    double least = GreedySearch::kForever;
    for (const GreedyWay& way : puzzle.jobs[at].ways) {
      const double late_s = std::max(0.0, first_end_s + way.time_s - puzzle.jobs[at].due_s);
      least = std::min(least, way.cost + kLateCost * late_s);
    }
    cost += least;
  }
  return cost;
}

double least_outcome(const GreedyPuzzle& puzzle, std::vector<const GreedyWay*>& ways) {
  if (ways.size() == puzzle.jobs.size()) return outcome_cost(puzzle, ways);
  ways.push_back(nullptr);
  double least = least_outcome(puzzle, ways);
  for (const GreedyWay& way : puzzle.jobs[ways.size() - 1].ways) {
    ways.back() = &way;
    least = std::min(least, least_outcome(puzzle, ways));
  }
  ways.pop_back();
  return least;
}

double found_cost(GreedyPuzzle& puzzle, int draws) {
  Rng rng(7);
  return outcome_cost(
      puzzle, GreedySearch(kLateCost, draws).choose(puzzle.jobs, puzzle.left, kFirstEnd_s, rng));
}

TEST(GreedySearch, FindsTheBestOfAllWaysOnceItMayTryLongEnough) {
  int greedy_is_best = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    GreedyPuzzle puzzle = greedy_puzzle(seed);
    const double greedy = found_cost(puzzle, 0);
    std::vector<const GreedyWay*> ways;
    const double best = least_outcome(puzzle, ways);
    EXPECT_GE(greedy, best - 1e-9) << "seed " << seed;
    EXPECT_NEAR(found_cost(puzzle, 5'000), best, 1e-9) << "seed " << seed;
    greedy_is_best += greedy <= best + 1e-9;
  }
  EXPECT_LT(greedy_is_best, 95) << "the puzzles ask for more than the greedy choice";
}

TEST(GreedySearch, LetsTheJobWithTheMostPressureChooseFirst) {
  // Both need the one GPU for 10 s. The second has 12 s, the first 15 s.
  const GreedyWay way{.type = 1, .gpus = 1, .milli = 1000, .time_s = 10, .cost = 10};
  std::vector<GreedyAsk> jobs{{.job = JobId{0}, .due_s = 15, .ways = {way}},
                              {.job = JobId{1}, .due_s = 12, .ways = {way}}};
  Rng rng(1);
  const auto ways =
      GreedySearch(kLateCost, 0)
          .choose(jobs, {{.gpu_type = 1, .milli = 1000}}, GreedySearch::kForever, rng);
  EXPECT_EQ(jobs[0].job, JobId{1});
  EXPECT_EQ(ways[0], &jobs[0].ways[0]);
  EXPECT_EQ(ways[1], nullptr);
}

// The greedy choice lets the first run for 100 s, and the second is then 95 s late. No GPU type
// suits the third.
TEST(GreedySearch, FindsACheaperOutcomeThoughAJobHasNoWay) {
  const GreedyWay slow{.type = 1, .gpus = 1, .milli = 1000, .time_s = 100, .cost = 100};
  const GreedyWay fast{.type = 1, .gpus = 1, .milli = 1000, .time_s = 10, .cost = 10};
  std::vector<GreedyAsk> jobs{{.job = JobId{0}, .due_s = 12, .ways = {slow}},
                              {.job = JobId{1}, .due_s = 15, .ways = {fast}},
                              {.job = JobId{2}}};
  Rng rng(1);
  const auto ways =
      GreedySearch(kLateCost, 100)
          .choose(jobs, {{.gpu_type = 1, .milli = 1000}}, GreedySearch::kForever, rng);
  EXPECT_EQ(ways[0], nullptr);
  EXPECT_EQ(ways[1], &jobs[1].ways[0]);
  EXPECT_EQ(ways[2], nullptr);
}

}  // namespace
}  // namespace almanac::policy
