// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/lines.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::timeshare {
namespace {

using Free = std::vector<std::vector<double>>;

// On the fast GPU alone the short job 0 would go first, and 1 end at 40, 10 late. In the other
// order 1 ends at 30 and 0 at 40; on the slow GPU 0 ends at 20.
TEST(Lines, PutADeadlineBeforeWhatIsShort) {
  const std::vector<Lined> one = {{.takes_s = {10}}, {.takes_s = {30}, .due_s = 30}};
  const Lines late = least_late(one, {{0}}, 0, 1'000);
  EXPECT_DOUBLE_EQ(late.cost_s, 50);
  EXPECT_DOUBLE_EQ(late.places[0].start_s, 0);
  const Lines in_time = least_late(one, {{0}}, 10, 1'000);
  EXPECT_DOUBLE_EQ(in_time.cost_s, 70);
  EXPECT_DOUBLE_EQ(in_time.places[1].start_s, 0);
  const std::vector<Lined> two = {{.takes_s = {10, 20}}, {.takes_s = {30, 90}, .due_s = 30}};
  const Lines apart = least_late(two, {{0}, {0}}, 10, 1'000);
  EXPECT_DOUBLE_EQ(apart.cost_s, 50);
  EXPECT_EQ(apart.places[0].type, 1U);
}

TEST(Lines, KnowJobsThatRunNowhere) {
  const double never = std::numeric_limits<double>::infinity();
  const Lines lines =
      least_late({{.takes_s = {never}}, {.takes_s = {5}, .gpus = 2}, {{7}}}, {{3}}, 1, 1'000);
  EXPECT_EQ(lines.places[0].start_s, never);
  EXPECT_EQ(lines.places[1].start_s, never) << "there is one GPU";
  EXPECT_DOUBLE_EQ(lines.places[2].start_s, 3);
  EXPECT_DOUBLE_EQ(lines.cost_s, 10);
}

struct Puzzle {
  std::vector<Lined> jobs{};
  Free free_s{};
  double late_worth = 0;
};

Puzzle any_puzzle(int most_jobs) {
  Puzzle made{.late_worth = static_cast<double>(*rc::gen::inRange(0, 20))};
  const int types = *rc::gen::inRange(1, 4);
  for (int type = 0; type < types; ++type) {
    auto& gpus = made.free_s.emplace_back();
    for (int gpu = *rc::gen::inRange(0, 4); gpu > 0; --gpu) gpus.push_back(*rc::gen::inRange(0, 9));
  }
  for (int job = *rc::gen::inRange(0, most_jobs + 1); job > 0; --job) {
    Lined& each = made.jobs.emplace_back(Lined{.gpus = *rc::gen::inRange(1, 4)});
    for (int type = 0; type < types; ++type) each.takes_s.push_back(*rc::gen::inRange(1, 20));
    each.age_s = *rc::gen::inRange(0, 9);
    if (*rc::gen::arbitrary<bool>()) each.due_s = *rc::gen::inRange(-5, 40);
  }
  return made;
}

/// The least that jobs which are not done cost, in any order and anywhere.
double best(const Puzzle& puzzle, const Free& free_s, std::vector<bool>& done) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t job = 0; job < puzzle.jobs.size(); ++job) {
    const Lined& each = puzzle.jobs[job];
    for (std::size_t type = 0; type < free_s.size() && !done[job]; ++type) {
      if (free_s[type].size() < static_cast<std::size_t>(each.gpus)) continue;
      Free then = free_s;
      std::sort(then[type].begin(), then[type].end());
      const auto gpus = static_cast<std::size_t>(each.gpus);
      const double end_s = then[type][gpus - 1] + each.takes_s[type];
      std::fill_n(then[type].begin(), gpus, end_s);
      done[job] = true;
      least = std::min(least, each.age_s + end_s +
                                  puzzle.late_worth * std::max(0.0, end_s - each.due_s) +
                                  best(puzzle, then, done));
      done[job] = false;
    }
  }
  return least == std::numeric_limits<double>::infinity() ? 0 : least;
}

RC_GTEST_PROP(Lines, CostNoMoreThanTheBestOfAllWays, ()) {
  const Puzzle puzzle = any_puzzle(4);
  const Lines lines = least_late(puzzle.jobs, puzzle.free_s, puzzle.late_worth, 1'000'000);
  RC_ASSERT(lines.is_best);
  std::vector<bool> done(puzzle.jobs.size());
  const double least = best(puzzle, puzzle.free_s, done);
  RC_ASSERT(std::abs(lines.cost_s - least) < 1e-9 * (1 + least));
}

RC_GTEST_PROP(Lines, HaveAnAnswerHoweverSoonTheSearchIsCutShort, ()) {
  const Puzzle puzzle = any_puzzle(8);
  const int steps = *rc::gen::inRange(0, 50);
  const Lines cut = least_late(puzzle.jobs, puzzle.free_s, puzzle.late_worth, steps);
  const Lines whole = least_late(puzzle.jobs, puzzle.free_s, puzzle.late_worth, 100'000);
  RC_ASSERT(cut.places.size() == puzzle.jobs.size());
  RC_ASSERT(cut.cost_s >= whole.cost_s * (1 - 1e-9));
  for (std::size_t job = 0; job < puzzle.jobs.size(); ++job) {
    RC_ASSERT((cut.places[job].start_s < 1e9) == (whole.places[job].start_s < 1e9));
  }
}

}  // namespace
}  // namespace almanac::timeshare
